package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/test/llm"
)

// claudeCode is the real program, with a home of its own and a provider of ours.
type claudeCode struct {
	t        *testing.T
	program  string
	provider *llm.Provider
	url      string // of the provider
	home     string
	dir      string // where it works
	path     string // a directory before those in PATH; "": none
}

func newClaudeCode(t *testing.T, say llm.Script) *claudeCode {
	t.Helper()
	c := &claudeCode{
		t: t, home: t.TempDir(), dir: t.TempDir(), provider: &llm.Provider{Say: say},
		program: npmProgram(t, "@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"),
	}
	server := httptest.NewServer(c.provider)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// env is what secateur and Claude Code see of this machine.
func (c *claudeCode) env() []string {
	return []string{
		"PATH=" + c.path + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + c.home, "XDG_STATE_HOME=" + filepath.Join(c.home, "s"), "XDG_CONFIG_HOME=" + filepath.Join(c.home, "c"),
		"ANTHROPIC_BASE_URL=" + c.url, "ANTHROPIC_API_KEY=sk-ant-client", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"ANTHROPIC_CUSTOM_HEADERS=X-Conversation: one", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
	}
}

// ask has Claude Code answer a prompt.
func (c *claudeCode) ask(prompt string, more ...string) string {
	c.t.Helper()
	return c.command(c.program, append([]string{"-p", prompt, "--model", "claude-opus-5-5", "--allowedTools", "Bash,Read,Grep,Glob,Agent"}, more...)...)
}

// command runs a program in the directory of the session, for five minutes at most.
func (c *claudeCode) command(program string, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = c.dir, c.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %.80s: %v\n%s", filepath.Base(program), args, err, out)
	}
	return string(out)
}

// results are the texts of all tool results in the last request that has some.
func (c *claudeCode) results() (texts []string) {
	c.t.Helper()
	for _, r := range slices.Backward(c.provider.Requests(messagesPath)) {
		var body struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			c.t.Fatal(err)
		}
		for _, m := range body.Messages {
			var blocks []struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				continue
			}
			for _, b := range blocks {
				if b.Type != "tool_result" {
					continue
				}
				var text string
				if json.Unmarshal(b.Content, &text) != nil {
					text = string(b.Content)
				}
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}

// turns is how many calls the model makes.
const turns = 20

// twentyTurns is Claude Code with a model that reads logs, a program and hits, one log twice, thinking before each.
func twentyTurns(t *testing.T) (c *claudeCode, file string) {
	t.Helper()
	call := func(i int) llm.Call {
		switch {
		case i == 3:
			return llm.Call{Name: "Read", Input: `{"file_path":"DIR/shop.go"}`}
		case i == 9:
			return llm.Call{Name: "Bash", Input: `{"command":"cat build-2.log","description":"Reads a log again"}`}
		case i%5 == 4:
			return llm.Call{Name: "Grep", Input: `{"pattern":"step","path":"DIR","output_mode":"content"}`}
		}
		return llm.Call{Name: "Bash", Input: fmt.Sprintf(`{"command":"cat build-%d.log","description":"Reads a log"}`, i)}
	}
	c = newClaudeCode(t, func(turn llm.Turn) llm.Reply {
		if turn.Calls >= turns {
			return llm.Reply{Think: []string{"that is it"}, Text: "tokenTable is not defined."}
		}
		next := call(turn.Calls)
		next.Input = strings.ReplaceAll(next.Input, "DIR", c.dir)
		return llm.Reply{Think: []string{"what is in it?", ""}, Text: "I look for tokenTable.", Calls: []llm.Call{next}}
	})
	c.dir, file = logs(t, turns), programFile(200)
	if err := os.WriteFile(filepath.Join(c.dir, "shop.go"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return c, file
}

// The same session three times: as it is, with the hook, and through the chat proxy. docs/clients.md has what each costs.
func TestClaudeCodeBills(t *testing.T) {
	t.Parallel()
	paid := map[string]float64{}
	for _, way := range []string{"without", "hook", "base URL"} {
		c, _ := twentyTurns(t)
		switch way {
		case "hook":
			c.command(secateur(t), "connect", "claude-code", "--hook", "--yes")
		case "base URL":
			store := fmt.Sprintf("store = { url = \"file:%s\", put_timeout_ms = 60000 }\n[context_pruning]\nenabled = true\n[providers.anthropic]\nbase_url = %q\n", t.TempDir(), c.url+"/v1")
			c.url = startDaemonWith(t, func(cmd *exec.Cmd) { cmd.Env = c.env() }, store).url
		}
		c.ask("Why does the build fail?")
		bill := c.provider.Bill("one")
		paid[way] = bill.Paid
		t.Logf("%s: %.0f, of that without secateur %.3f", way, bill.Paid, bill.Paid/paid["without"])
	}
	for _, way := range []string{"hook", "base URL"} {
		if paid[way] >= paid["without"] {
			t.Errorf("%s costs %.0f, and without it %.0f", way, paid[way], paid["without"])
		}
	}
}

// The real Claude Code with our hook over twenty turns: results are pruned when they first reach the model and never change, thinking stays
// valid, a file's lines keep their numbers, what is asked for twice comes whole, and undoing leaves no trace.
func TestClaudeCodeHook(t *testing.T) {
	c, file := twentyTurns(t)
	t.Parallel()
	settings := filepath.Join(c.home, ".claude", "settings.json")
	before := []byte("{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, before, 0o600); err != nil {
		t.Fatal(err)
	}
	c.command(secateur(t), "connect", "claude-code", "--hook", "--yes")
	d := startDaemonWith(t, func(cmd *exec.Cmd) { cmd.Env = c.env() }, "")
	if out := c.ask("Why does the build fail?"); !strings.Contains(out, "tokenTable is not defined.") {
		t.Fatalf("Claude Code says %s", out)
	}
	pruned := 0
	for i, text := range c.results() {
		if i == 9 {
			if strings.Contains(text, "⟦PRUNED") || strings.Count(text, "\n") < 140 {
				t.Errorf("what was asked for twice is not whole: %.300s", text)
			}
			continue
		}
		if !strings.Contains(text, "⟦PRUNED ") {
			continue
		}
		pruned++
		if i == 3 {
			checkNumbers(t, file, text)
		} else if i%5 != 4 && !strings.Contains(text, "undefined: tokenTable") {
			t.Errorf("result %d lost what it was read for: %.300s", i, text)
		}
	}
	if pruned < turns-4 {
		t.Errorf("%d of %d results are pruned", pruned, turns)
	}
	if n := strings.Count(strings.Join(c.results(), "\n"), "These lines were left out"); n != 1 {
		t.Errorf("recovery is told %d times", n)
	}
	for i, r := range c.provider.Requests(messagesPath) {
		if r.Status != 200 {
			t.Errorf("request %d was answered %d: %.300s", i, r.Status, r.Answer)
		}
	}

	// The daemon is killed between two events: the next hook does the work itself, and knows what was cut.
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.stop()
	id := regexp.MustCompile(`prn_[0-9A-Z]{26}`).FindString(strings.Join(c.results(), "\n"))
	if out := c.command(secateur(t), "recover", id); strings.Count(out, "\n") < 140 {
		t.Errorf("the original is not there: %.300s", out)
	}
	c.ask("Are you sure?", "--continue")
	notes := filepath.Join(c.home, "s", "secateur", "hook", "sessions", "*")
	if files, _ := filepath.Glob(notes); len(files) == 0 {
		t.Error("a session that goes on was forgotten")
	}
	c.ask("/compact", "--continue")
	if files, _ := filepath.Glob(notes); len(files) != 0 {
		t.Errorf("a compaction leaves what was seen: %s", files)
	}
	c.command(secateur(t), "disconnect", "claude-code", "--yes")
	if now, err := os.ReadFile(settings); err != nil || !bytes.Equal(now, before) {
		t.Errorf("after disconnecting the settings are %s, %v", now, err)
	}
}

// programFile is a file of many functions.
func programFile(n int) string {
	var b strings.Builder
	b.WriteString("package shop\n\n")
	for i := range n {
		fmt.Fprintf(&b, "// Step%d is one of the steps of checkout.\nfunc Step%d(cart *Cart) error {\n\treturn cart.add(%d, \"item_%d\")\n}\n\n", i, i, i*31, i*7%91)
	}
	return b.String()
}

// checkNumbers holds that every line of a file that the model sees stands behind its own number.
func checkNumbers(t *testing.T, file, shown string) {
	t.Helper()
	lines := strings.Split(file, "\n")
	seen := 0
	for _, line := range strings.FieldsFunc(shown, func(r rune) bool { return r == '\n' || r == '\r' }) {
		var number int
		if _, err := fmt.Sscanf(line, "%d\t", &number); err != nil {
			continue
		}
		_, text, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(text, "⟦PRUNED") {
			continue
		}
		seen++
		if number < 1 || number > len(lines) || lines[number-1] != text {
			t.Errorf("line %d is shown as %q", number, text)
			return
		}
	}
	if seen < 50 {
		t.Errorf("%d lines are shown: %.300q", seen, shown)
	}
}

// kinds are the members of a document, with the kinds of their values.
func kinds(doc any, path string, to map[string]string) {
	to[path] = "null"
	if doc != nil {
		to[path] = reflect.TypeOf(doc).Kind().String()
	}
	switch d := doc.(type) {
	case map[string]any:
		for name, v := range d {
			kinds(v, path+"."+name, to)
		}
	case []any:
		for _, v := range d {
			kinds(v, path+"[]", to)
		}
	}
}

// The shapes of results that internal/llm/hook knows are those of the installed Claude Code.
func TestClaudeCodeShapes(t *testing.T) {
	dir := logs(t, 2)
	calls := []llm.Call{
		{Name: "Bash", Input: `{"command":"cat build-0.log"}`},
		{Name: "Read", Input: `{"file_path":"DIR/build-0.log"}`},
		{Name: "Grep", Input: `{"pattern":"step","path":"DIR","output_mode":"content"}`},
		{Name: "Grep", Input: `{"pattern":"step","path":"DIR"}`},
		{Name: "Glob", Input: `{"pattern":"*.log","path":"DIR"}`},
	}
	c := newClaudeCode(t, func(turn llm.Turn) llm.Reply {
		if turn.Calls >= len(calls) {
			return llm.Reply{Text: "done"}
		}
		next := calls[turn.Calls]
		next.Input = strings.ReplaceAll(next.Input, "DIR", dir)
		return llm.Reply{Text: "I look.", Calls: []llm.Call{next}}
	})
	t.Parallel()
	c.dir = dir
	events := t.TempDir()
	hooks := fmt.Sprintf(`{"hooks":{"PostToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"cat > %s/$(date +%%s%%N).json"}]}]}}`, events)
	c.ask("What is in it?", "--settings", hooks)
	files, err := filepath.Glob(filepath.Join(events, "*.json"))
	if err != nil || len(files) != len(calls) {
		t.Fatalf("%d events for %d calls, %v", len(files), len(calls), err)
	}
	for i, name := range []string{"Bash", "Read", "Grep", "Grep-files", "Glob"} {
		got, want := map[string]string{}, map[string]string{}
		for file, to := range map[string]map[string]string{files[i]: got, filepath.Join("..", "internal", "llm", "hook", "testdata", "claude-code-2.1.325", name+".json"): want} {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var e map[string]any
			if err := json.Unmarshal(b, &e); err != nil {
				t.Fatal(err)
			}
			kinds(e["tool_response"], "", to)
		}
		for path, kind := range want {
			if got[path] != kind && path != ".filenames[]" {
				t.Errorf("%s%s is %q, and was %q: learn the new shape", name, path, got[path], kind)
			}
		}
	}
}

// The repository is a plugin: with it the real Claude Code has the hook, the MCP server and the skill.
func TestClaudeCodePlugin(t *testing.T) {
	c := newClaudeCode(t, func(turn llm.Turn) llm.Reply {
		id := regexp.MustCompile(`id=(prn_[0-9A-Z]{26})`).FindStringSubmatch(strings.Join(turn.Results, "\n"))
		switch {
		case turn.Calls < 3:
			return llm.Reply{Text: "I look for tokenTable.", Calls: []llm.Call{{Name: "Bash", Input: fmt.Sprintf(`{"command":"cat build-%d.log"}`, turn.Calls)}}}
		case turn.Calls == 3 && id != nil:
			return llm.Reply{Text: "I look at the rest.", Calls: []llm.Call{{
				Name: "mcp__plugin_secateur_secateur__pruner-recover_text", Input: `{"prune_id":"` + id[1] + `","ranges":[{"start_line":1,"end_line":150}],"include_line_numbers":false}`,
			}}}
		}
		return llm.Reply{Text: "tokenTable is not defined."}
	})
	t.Parallel()
	c.dir = logs(t, 3)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(secateur(t), filepath.Join(bin, "secateur")); err != nil {
		t.Fatal(err)
	}
	c.path = bin
	if out := c.command(c.program, "plugin", "validate", root); !strings.Contains(out, "passed") {
		t.Errorf("the plugin is not valid: %s", out)
	}
	c.ask("Why does the build fail?", "--plugin-dir", root, "--allowedTools", "Bash,mcp__plugin_secateur_secateur__pruner-recover_text")
	pruned := 0
	for i, text := range c.results() {
		if i == 3 && strings.Count(text, "INFO step") < 140 {
			t.Errorf("the plugin's tool does not bring back what the hook has cut: %.500s", text)
		}
		if strings.Contains(text, "⟦PRUNED ") {
			pruned++
		}
	}
	if pruned != 3 {
		t.Errorf("%d of 3 results are pruned: %.500q", pruned, c.results())
	}
	first := string(c.provider.Requests(messagesPath)[0].Body)
	if !strings.Contains(first, "secateur:secateur") {
		t.Error("the skill is not in the first request")
	}
	// On a busy machine the server comes later than the first result, and the marker then names the command.
	way := "run `secateur recover prn_"
	if strings.Contains(first, "pruner-recover_text") {
		way = "call mcp__plugin_secateur_secateur__pruner-recover_text with prune_id"
	}
	if text := strings.Join(c.results(), "\n"); !strings.Contains(text, way) {
		t.Errorf("the marker does not say %q: %.500s", way, text)
	}
}
