package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access/oauth"
	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/clients"
	"secateur/internal/ops/doctor"
	"secateur/internal/store/originals"
)

func newDoctor(w world) *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps secateur from working on this machine, and say what to do",
		Long: `doctor checks the configuration, the commands of its servers, a handshake with each of them, the
port, whether providers answer (without a paid call), the store, the clock, certificates, and how
clients are connected. Each finding has its cause and what to do about it.

No running program is needed. Where one runs with this configuration, its servers are not
started a second time: how they are doing there is reported. Exit status 1 if something fails.`,
		Example: `  secateur doctor
  secateur doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := w.examine(cmd.Context(), file)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(w.out).Encode(report)
			} else {
				w.printReport(report)
			}
			if err == nil && !report.OK {
				return exitError{code: exitFailure}
			}
			return err
		},
	}
	configFlag(cmd, &file)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (w world) examine(ctx context.Context, file string) (doctor.Report, error) {
	l, err := w.load(file, "", usersOwn) // its commands are started: a stranger's file in the working directory is not asked
	if err != nil {
		return doctor.Report{}, err
	}
	w.holdsServers() // those that the checks start
	checks := []doctor.Check{func(context.Context) []doctor.Finding { return configFindings(l) }}
	if len(l.mistakes) == 0 {
		checks = append(checks, w.checksOf(ctx, l.Config)...)
	}
	var over atomic.Int64
	done := w.progressOf(func() (string, float64) {
		n := over.Load()
		return fmt.Sprintf("%d of %d checks", n, len(checks)), float64(n) / float64(len(checks))
	})
	defer done()
	return doctor.Examine(ctx, checks, func(n int) { over.Store(int64(n)) }), nil
}

// configFindings are the mistakes and warnings of a configuration.
func configFindings(l loaded) (all []doctor.Finding) {
	for _, list := range [][]config.Problem{l.mistakes, l.Warnings} {
		for _, p := range list {
			level, fix := doctor.Fail, "correct it; 'secateur check' shows all of them"
			switch p.Severity {
			case config.Warning:
				level, fix = doctor.Warn, ""
			case config.Unready:
				fix = "set it where secateur runs: a program started from a desktop has no variables of a shell; the other servers run"
			case config.Mistake:
			}
			all = append(all, doctor.Finding{Check: doctor.Config, Subject: l.name(), Level: level, Cause: p.String(), Fix: fix})
		}
	}
	if _, err := os.Stat(initFile); err == nil && l.Path == "" {
		all = append(all, doctor.Finding{Check: doctor.Config, Subject: "./" + initFile, Level: doctor.Warn, Cause: "it is there and was not looked at: its commands are started", Fix: "name it with --config if it is yours"})
	}
	if all == nil {
		all = append(all, doctor.Finding{Check: doctor.Config, Subject: l.name(), Level: doctor.OK, Cause: plural(len(l.Servers), "server")})
	}
	return all
}

// checksOf are the checks of a configuration without mistakes.
func (w world) checksOf(ctx context.Context, cfg *config.Config) (checks []doctor.Check) {
	opt := w.appOptions(cfg)
	running := w.runningServers(ctx, cfg)
	for _, s := range cfg.Servers {
		if s.Held {
			checks = append(checks, func(context.Context) []doctor.Finding {
				return []doctor.Finding{{Check: doctor.Handshake, Subject: s.ID, Level: doctor.Warn, Cause: s.HeldText(), Fix: "'secateur approve " + s.ID + "', or 'secateur remove " + s.ID + "'"}}
			})
			continue
		}
		if s.Disabled || s.Builtin != "" || s.Unready != "" {
			continue
		}
		if s.Sandbox.On() {
			checks = append(checks, func(context.Context) []doctor.Finding { return sandboxFindings(opt, s) })
		}
		shake := w.handshake(opt, s, running)
		if len(s.Command) > 0 {
			look := doctor.CheckCommand(s.ID, w.inHome(s.Command[0]), w.environOf(s))
			checks = append(checks, doctor.Then(look, shake))
			continue
		}
		checks = append(checks, shake)
	}
	checks = append(checks, doctor.CheckPort(cfg.Listen, func(context.Context) bool { return running != nil }))
	chat := doctor.Door{Listen: cfg.Listen}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p := cfg.Providers[name]
		isMessages := p.SpeaksMessages(name)
		chat.Messages, chat.Others = chat.Messages || isMessages, chat.Others || !isMessages
		checks = append(checks, doctor.CheckProvider(name, p.BaseURL, p.APIKey, time.Now))
	}
	checks = append(checks, doctor.CheckBaseURLs(chat, w.chatFiles(), w.lookup))
	checks = append(checks, func(ctx context.Context) []doctor.Finding { return storeFindings(ctx, opt) })
	if cfg.TLS.Cert != "" {
		tls := cfg.TLS.In(cfg.Dir())
		for _, file := range []string{tls.Cert, tls.ClientCA} {
			if file != "" {
				checks = append(checks, doctor.CheckCertificate(file, time.Now()))
			}
		}
	}
	checks = append(checks, w.checkLogins)
	return append(checks, w.clientChecks(cfg, running)...)
}

// chatFiles are the files in which clients may have a base URL.
func (w world) chatFiles() doctor.Files {
	files := doctor.Files{Claude: filepath.Join(w.home, ".claude", "settings.json")}
	for _, c := range clients.Known() {
		switch c.Name {
		case "codex":
			files.Codex = c.Files(w.machine())[0]
		case "opencode":
			files.OpenCode = c.Files(w.machine())[0]
		}
	}
	return files
}

// checkLogins looks at the sign-ins with remote servers.
func (w world) checkLogins(context.Context) (all []doctor.Finding) {
	list, err := oauth.Logins{Dir: filepath.Join(w.stateDir, "logins")}.List()
	if err != nil {
		return []doctor.Finding{{Check: doctor.Login, Subject: w.stateDir, Level: doctor.Fail, Cause: err.Error(), Fix: "make it readable"}}
	}
	for _, l := range list {
		f := doctor.Finding{Check: doctor.Login, Subject: l.Server, Level: doctor.OK, Cause: "signed in at " + l.Issuer}
		if !l.Refreshable && l.ExpiresAt != nil && l.ExpiresAt.Before(time.Now()) {
			f.Level, f.Cause, f.Fix = doctor.Fail, "the sign-in has expired and cannot be renewed", "'secateur login "+l.Server+"'"
		}
		all = append(all, f)
	}
	return all
}

// runningServers are those of a program that runs with this configuration, by id; nil: none does.
func (w world) runningServers(ctx context.Context, cfg *config.Config) map[string]admin.Server {
	c := w.listener(ctx, cfg)
	if c == nil || c.greet(ctx) != nil {
		return nil
	}
	servers := map[string]admin.Server{}
	list, _, err := all[admin.Server](ctx, c, "/servers")
	if err != nil {
		return servers // it answers, and does not tell
	}
	for _, s := range list {
		servers[s.ID] = s
	}
	return servers
}

func (w world) handshake(opt app.Options, set upstream.Settings, running map[string]admin.Server) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		f := doctor.Finding{Check: doctor.Handshake, Subject: set.ID, Level: doctor.OK}
		if s, ok := running[set.ID]; ok {
			f.Cause = "in the running program: " + restarted(s)
			switch s.State {
			case "ready":
			case "starting", "restarting", "degraded":
				f.Level, f.Fix = doctor.Warn, "look again in a moment"
			default:
				f.Level, f.Fix = doctor.Fail, "'secateur restart "+set.ID+"'; GET "+admin.Base+"/servers/"+set.ID+"/stderr has its output"
			}
			return []doctor.Finding{f}
		}
		shaken, err := app.Handshake(ctx, opt, set)
		if err == nil {
			f.Cause = fmt.Sprintf("%s speaks %s, after %s", nameOr(shaken.Name, set.ID), nameOr(shaken.Protocol, "plain JSON-RPC"), shaken.Took.Round(time.Millisecond))
			return []doctor.Finding{f}
		}
		f.Level, f.Cause, f.Fix = doctor.Fail, whyNot(set.ID, err), "run its command by hand, or raise startup_timeout"
		if len(shaken.Stderr) > 0 {
			f.Cause += "; its output: " + oneLine(strings.Join(shaken.Stderr, " | "))
		}
		if set.Sandbox.On() {
			f.Fix = "its sandbox may keep something from it: 'secateur check' says what it reaches, sandbox = \"off\" tries it without; or " + f.Fix
		}
		if shaken.Starting {
			f.Level, f.Fix = doctor.Warn, "look again in a moment: it may still be installing itself; startup_timeout says how long calls wait for it"
		}
		if set.URL != "" {
			f.Fix = "correct url of the server " + set.ID + ", or start what should answer there"
		}
		if upstream.IsUnauthorized(err) {
			f.Check, f.Fix = doctor.Login, "'secateur login "+set.ID+"', or put a token into headers of the server, as \"Bearer ${VARIABLE}\""
		}
		return []doctor.Finding{f}
	}
}

// whyNot is why a server did not answer, without what is said beside it.
func whyNot(id string, err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), fmt.Sprintf("server %q: ", id)), upstream.OutputIsLogged)
	return oneLine(text)
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func storeFindings(ctx context.Context, opt app.Options) []doctor.Finding {
	where, err := app.CheckStore(ctx, opt)
	f := doctor.Finding{Check: doctor.Store, Subject: where, Level: doctor.OK, Cause: "can be used"}
	const lost = "a session that a provider refuses after that goes on as a new one, or forked"
	switch {
	case where == "memory:" && opt.Config.Store.URL == "":
		f.Level, f.Cause, f.Fix = doctor.Warn, "the state directory cannot be written, so what was cut is forgotten with a restart", "make "+opt.StateDir+" writable, or set store.url; "+lost
	case where == "memory:" && hasMessages(opt.Config):
		f.Level, f.Cause, f.Fix = doctor.Warn, "what was cut is forgotten with a restart, and models that bind their thinking may then refuse the conversation", "take store.url out, or set it to file:DIR or redis://HOST; "+lost
	}
	if err != nil {
		f.Level, f.Cause, f.Fix = doctor.Fail, err.Error(), "make it writable or reachable, or set store.url"
	}
	if errors.Is(err, app.ErrDiskFull) {
		f.Fix = originals.Stats{DiskFull: true}.Hint()
	}
	return []doctor.Finding{f}
}

// hasMessages tells whether a provider speaks Anthropic's format, the models of which bind their thinking.
func hasMessages(cfg *config.Config) bool {
	for name, p := range cfg.Providers {
		if p.SpeaksMessages(name) {
			return true
		}
	}
	return false
}

// clientChecks look at the clients whose files are there.
func (w world) clientChecks(cfg *config.Config, running map[string]admin.Server) (checks []doctor.Check) {
	var ours []string
	for _, s := range cfg.Servers {
		ours = append(ours, s.ID)
	}
	definitions := 0
	for _, s := range running {
		definitions += s.Tokens
	}
	tools := catalog.NewToolProfiles(cfg.Tools)
	m := w.machine()
	for _, c := range clients.Known() {
		for _, path := range c.Files(m) {
			if v, err := clients.Read(path); err == nil && v.Exists {
				l := w.listed(c, path, v.Data)
				if !tools.For(c.Name, "").Search && !catalog.SearchesByItself(c.Name) {
					l.Definitions = definitions
				}
				checks = append(checks, doctor.CheckClient(l, ours, w.environ))
				break
			}
		}
	}
	return append(checks, doctor.CheckClaudeCode(filepath.Join(w.home, ".claude", "settings.json"), w.lookup))
}

// listed is what a client's file lists.
func (w world) listed(c clients.Client, path string, data []byte) doctor.Listed {
	l := doctor.Listed{Client: c.Name, Title: c.Title, File: path}
	list, _ := config.ReadServers(path, data, config.Options{Lookup: w.lookup, ReadFile: config.ReadFile}, nil)
	for _, s := range list.Servers {
		if s.ID != clients.EntryName {
			l.Others = append(l.Others, s.ID)
			continue
		}
		l.HasUs = true
		for _, f := range s.Fields {
			if argv, ok := f.Value.([]any); ok && f.Name == "command" && len(argv) > 0 {
				l.Program, _ = argv[0].(string)
			}
		}
	}
	_, found := document.Find(c.Format, data, c.Place())
	l.HasUs = l.HasUs || found
	return l
}

// environOf is the environment in which a server's program is looked for.
func (w world) environOf(s upstream.Settings) []string {
	environ := w.environ
	if path, ok := s.Env["PATH"]; ok {
		environ = append(slices.Clip(environ), "PATH="+path.Reveal())
	}
	return environ
}

// inHome is a path with ~ for the home directory written out.
func (w world) inHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && w.home != "" {
		return filepath.Join(w.home, rest)
	}
	return path
}

func (w world) printReport(r doctor.Report) {
	for _, f := range r.Findings {
		pad := strings.Repeat(" ", 4-len(f.Level))
		w.printf("%s%s  %-11s  %s: %s\n", w.coloured(string(f.Level)), pad, f.Check, f.Subject, f.Cause)
		if f.Fix != "" {
			fmt.Fprintf(w.out, "                   %s\n", f.Fix)
		}
	}
	fmt.Fprintf(w.out, "%s, %s\n", plural(r.Count(doctor.Fail), "failure"), plural(r.Count(doctor.Warn), "warning"))
}
