package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/ops/admin"
)

func newRun(w world) *cobra.Command {
	var file string
	var own, printEnv bool
	cmd := &cobra.Command{
		Use:   "run [--own] [--print-env] AGENT [ARGS…]",
		Short: "Run an agent with its results pruned, and say what that saved",
		Long: `run starts an agent so that what its tools say is pruned: its conversations pass through a running
'secateur serve', and Claude Code without [providers.anthropic] gets the hook instead. A daemon that runs already is
used, with its own configuration; where none runs, one is started in the background, or with --own one on a free
port that ends with the agent. Nothing of the agent's files is changed: it is told by its environment and its
arguments, which --print-env prints instead of running it. At the end run says what was saved.

  secateur run claude
  secateur run --own codex exec "fix the build"

AGENT is one of ` + strings.Join(agentNames(), ", ") + `.`,
		Example: `  secateur run --print-env claude`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, ok := agents[args[0]]
			if !ok {
				return usage("there is no agent %q%s", args[0], didYouMean(args[0], agentNames(), ""))
			}
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			return w.runAgent(cmd.Context(), cfg, runRequest{name: args[0], agent: a, args: args[1:], file: file, own: own, printEnv: printEnv})
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the agent is the agent's
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&own, "own", false, "start a daemon for this agent alone, on a free port")
	cmd.Flags().BoolVar(&printEnv, "print-env", false, "print the variables and the command instead of running it")
	return cmd
}

// launch is how an agent is told where its conversations go.
type launch struct {
	env  []string
	args []string // before the agent's own
	note string   // said before it runs
}

// agent is a program that run knows.
type agent struct {
	program  string
	provider string // that the daemon must have; "": none
	launch   func(base string) launch
}

// agents are the programs that run knows, by the name on the command line.
var agents = map[string]agent{
	"claude": {"claude", "anthropic", func(base string) launch { return launch{env: []string{"ANTHROPIC_BASE_URL=" + base}} }},
	"codex": {"codex", "openai", func(base string) launch {
		return launch{args: []string{"-c", `openai_base_url="` + base + `/v1"`}}
	}},
	"opencode": {"opencode", "anthropic", func(base string) launch {
		options := `{"options":{"baseURL":"` + base + `/v1"}}`
		return launch{env: []string{`OPENCODE_CONFIG_CONTENT={"provider":{"anthropic":` + options + `,"openai":` + options + `}}`}}
	}},
	"goose": {"goose", "openai", func(base string) launch {
		return launch{env: []string{"OPENAI_HOST=" + base, "ANTHROPIC_HOST=" + base}}
	}},
	"aider": {"aider", "openai", func(base string) launch {
		return launch{env: []string{"OPENAI_API_BASE=" + base + "/v1", "ANTHROPIC_API_BASE=" + base}}
	}},
	"qwen":   {"qwen", "openai", func(base string) launch { return launch{env: []string{"OPENAI_BASE_URL=" + base + "/v1"}} }},
	"gemini": {"gemini", "", launchGemini},
}

func agentNames() []string { return slices.Sorted(maps.Keys(agents)) }

// launchHook has Claude Code run our hook, without a base URL.
func launchHook(command string) launch {
	type run struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type entry struct {
		Matcher string `json:"matcher"`
		Hooks   []run  `json:"hooks"`
	}
	hooks := []run{{"command", command, 10}}
	settings, _ := json.Marshal(map[string]map[string][]entry{"hooks": {
		"PostToolUse": {{"*", hooks}}, "PreCompact": {{"", hooks}}, "SessionStart": {{"compact|clear", hooks}},
	}})
	return launch{args: []string{"--settings", string(settings)}}
}

// launchGemini gives Gemini CLI our MCP servers: its conversations are in a format that the chat door does not speak.
func launchGemini(base string) launch {
	return launch{
		env:  []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH={settings}"},
		note: "the conversations of Gemini CLI do not pass through secateur, which does not speak their format; it gets the MCP servers of " + base + "/mcp",
	}
}

type runRequest struct {
	name          string
	agent         agent
	args          []string
	file          string
	own, printEnv bool
}

// runAgent runs an agent.
func (w world) runAgent(ctx context.Context, cfg *config.Config, r runRequest) error {
	_, has := cfg.Providers[r.agent.provider]
	if r.name == "claude" && !has {
		return w.runHooked(ctx, cfg, r)
	}
	if r.agent.provider != "" && !has {
		return fmt.Errorf("the configuration has no [providers.%s], so that %s could not reach its models; examples/agents.toml shows one", r.agent.provider, r.name)
	}
	base := strings.TrimSuffix(mcpURL(cfg.Settings), "/mcp")
	if r.printEnv {
		return w.printLaunch(r, r.agent.launch(base))
	}
	c, end, err := w.daemonFor(ctx, cfg, r)
	if err != nil {
		return err
	}
	defer end()
	l := r.agent.launch(c.base)
	for i := range l.env {
		if strings.Contains(l.env[i], "{settings}") {
			path, remove, err := geminiSettings(c.base)
			if err != nil {
				return err
			}
			defer remove()
			l.env[i] = strings.Replace(l.env[i], "{settings}", path, 1)
		}
	}
	if c.token != "" && r.name == "claude" {
		l.env = append(l.env, "ANTHROPIC_CUSTOM_HEADERS=X-Secateur-Token: "+c.token)
	}
	before, _, errBefore := get[admin.Savings](ctx, c, "/savings?since=24h")
	failed := w.start(ctx, r, l)
	after, _, errAfter := get[admin.Savings](context.WithoutCancel(ctx), c, "/savings?since=24h")
	if errBefore == nil && errAfter == nil {
		saved := (after.SavedUSD - after.LostUSD) - (before.SavedUSD - before.LostUSD)
		fmt.Fprintf(w.err, "secateur: saved %s of prompts in this session; about %s tokens were cut\n", money(saved), thousands(int(after.CutTokens-before.CutTokens)))
	}
	return failed
}

// runHooked runs Claude Code with the hook.
func (w world) runHooked(ctx context.Context, cfg *config.Config, r runRequest) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	path := ""
	if cfg.Path != "" {
		if path, err = filepath.Abs(cfg.Path); err != nil {
			return err
		}
	}
	l := launchHook(app.HookCommand(program, path))
	if r.printEnv {
		return w.printLaunch(r, l)
	}
	fmt.Fprintln(w.err, "secateur: the configuration has no [providers.anthropic]: results are pruned by the hook, and conversations go to Anthropic directly")
	return w.start(ctx, r, l)
}

// printLaunch prints what run would set.
func (w world) printLaunch(r runRequest, l launch) error {
	for _, e := range l.env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(w.out, "export %s=%s\n", name, app.ShellWord(value))
	}
	words := []string{r.agent.program}
	for _, a := range slices.Concat(l.args, r.args) {
		words = append(words, app.ShellWord(a))
	}
	fmt.Fprintln(w.out, strings.Join(words, " "))
	return nil
}

// start runs the agent with this terminal, and returns when it has ended.
func (w world) start(ctx context.Context, r runRequest, l launch) error {
	if l.note != "" {
		fmt.Fprintln(w.err, "secateur:", l.note)
	}
	program, err := exec.LookPath(r.agent.program)
	if err != nil {
		return fmt.Errorf("%s is not installed, or not in PATH: %w", r.agent.program, err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, slices.Concat(l.args, r.args)...) // Ctrl-C is the agent's
	cmd.Env = append(slices.Clone(w.environ), l.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.in, exact(w.out), exact(w.err)
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitError{max(ended.ExitCode(), exitFailure), nil}
	}
	return err
}

// daemonFor finds a running daemon, or starts one.
func (w world) daemonFor(ctx context.Context, cfg *config.Config, r runRequest) (c *controlClient, end func(), err error) {
	if !r.own {
		if c := w.listener(ctx, cfg); c != nil && c.greet(ctx) == nil {
			fmt.Fprintf(w.err, "secateur: %s runs already and is used, with its own configuration\n", c.name)
			return c, func() {}, nil
		}
	}
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := []string{"serve"}
	if cfg.Path != "" {
		args = append(args, "--config", cfg.Path)
	}
	if r.own {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	cmd.Env = w.environ
	inBackground(cmd)
	cmd.Stderr = w.daemonLog()
	if !r.own {
		c, err := w.startForGood(ctx, cfg, cmd)
		return c, func() {}, err
	}
	address, err := startedAt(cmd)
	if err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	return &controlClient{name: address, base: address, token: w.tokenFor(cfg), http: newClient(nil, nil)}, end, nil
}

// startForGood starts a daemon that goes on when this program has ended.
func (w world) startForGood(ctx context.Context, cfg *config.Config, cmd *exec.Cmd) (*controlClient, error) {
	c := w.listener(ctx, cfg)
	if c == nil {
		return nil, fmt.Errorf("listen = %q is no address of this machine; --own starts a daemon on a free port", cfg.Listen)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until := time.After(startTime)
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-tick.C:
		case <-ended:
			return nil, errNotStarted
		case <-until:
			_ = cmd.Process.Kill()
			return nil, errNotStarted
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if c.greet(ctx) == nil {
			fmt.Fprintf(w.err, "secateur: started 'secateur serve' on %s; it goes on in the background\n", c.name)
			return c, nil
		}
	}
}

var errNotStarted = errors.New("'secateur serve' did not start; run it by itself, or read daemon.log in the state directory")

// startTime is how long a daemon may take to listen.
const startTime = 30 * time.Second

// startedAt starts a daemon and returns the address that it says it listens on.
func startedAt(cmd *exec.Cmd) (string, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), "listens on "); ok {
				address, _, _ := strings.Cut(rest, " ")
				found <- address
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case address := <-found:
		if address != "" {
			return address, nil
		}
	case <-time.After(startTime):
	}
	_ = cmd.Process.Kill()
	return "", errNotStarted
}

// daemonLog is where a daemon that run starts logs; nil: nowhere.
func (w world) daemonLog() io.Writer {
	if w.stateDir == "" || os.MkdirAll(w.stateDir, 0o700) != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(w.stateDir, "daemon.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// geminiSettings writes settings for one run of Gemini CLI.
func geminiSettings(base string) (path string, remove func(), err error) {
	f, err := os.CreateTemp("", "secateur-gemini-*.json")
	if err != nil {
		return "", nil, err
	}
	_, err = fmt.Fprintf(f, "{\"mcpServers\":{\"secateur\":{\"httpUrl\":%q}}}\n", base+"/mcp")
	return f.Name(), func() { _ = os.Remove(f.Name()) }, errors.Join(err, f.Close())
}
