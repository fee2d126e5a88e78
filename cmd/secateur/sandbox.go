package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/mcp/confine"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/doctor"
)

// printSandboxes says what confined servers may touch.
func (w world) printSandboxes(cfg *config.Config) {
	for _, s := range cfg.Servers {
		if s.Sandbox.On() {
			w.printSandbox(cfg, s, "")
		}
	}
}

// printSandbox says what one confined server may touch.
func (w world) printSandbox(cfg *config.Config, s upstream.Settings, indent string) {
	box, err := app.SandboxOf(w.appOptions(cfg), s)
	if err != nil {
		fmt.Fprintf(w.out, "%s%s: %v\n", indent, s.ID, err)
		return
	}
	fmt.Fprintf(w.out, "%s%s: sandbox %s\n", indent, s.ID, box.Name)
	for _, line := range box.May {
		fmt.Fprintf(w.out, "%s  %s\n", indent, line)
	}
	for _, path := range box.Absent {
		fmt.Fprintf(w.out, "%s  not there, so not granted: %s\n", indent, path)
	}
	for _, gap := range box.Gaps {
		fmt.Fprintf(w.out, "%s  not enforced on this machine: %s\n", indent, gap)
	}
}

func (w world) appOptions(cfg *config.Config) app.Options {
	return app.Options{Config: cfg, Version: version, Environ: w.environ, Home: w.home, StateDir: w.stateDir}
}

// sandboxFindings says whether this machine enforces a server's sandbox.
func sandboxFindings(opt app.Options, s upstream.Settings) []doctor.Finding {
	f := doctor.Finding{Check: doctor.Sandbox, Subject: s.ID, Level: doctor.OK}
	box, err := app.SandboxOf(opt, s)
	switch {
	case err != nil:
		f.Level, f.Cause, f.Fix = doctor.Fail, err.Error(), "correct sandbox or cwd of the server "+s.ID
	case len(box.Gaps) > 0:
		f.Level, f.Cause = doctor.Warn, "this system cannot enforce: "+strings.Join(box.Gaps, "; ")
		f.Fix = "use a newer kernel; sandbox_required = true keeps the server from starting without it"
		if s.SandboxRequired {
			f.Level, f.Fix = doctor.Fail, "use a newer kernel, or take sandbox_required out"
		}
	case len(box.Absent) > 0:
		f.Level, f.Cause, f.Fix = doctor.Warn, "not there, so not granted: "+strings.Join(box.Absent, ", "), "create it, or take it out of sandbox"
	default:
		f.Cause = box.Name + ": " + strings.Join(box.May, "; ")
	}
	return []doctor.Finding{f}
}

// autoSandbox has each new server get the profile that is proposed for it.
const autoSandbox = "auto"

func sandboxFlag(cmd *cobra.Command, profile *string) {
	words := append([]string{autoSandbox}, confine.Profiles...)
	cmd.Flags().StringVar(profile, "sandbox", "", "`profile` to confine the command with: "+strings.Join(words, ", ")+" (auto: the proposed one)")
	_ = cmd.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// proposed is the profile that fits a server; "": it has no command, or a sandbox already.
func (w world) proposed(s config.FileServer) string {
	if len(commandOf(s)) == 0 || field(s, "sandbox") != nil {
		return ""
	}
	cwd, _ := field(s, "cwd").(string)
	return confine.Propose(commandOf(s), cwd, w.home)
}

// confined is a server with the sandbox that a flag asks for.
func (w world) confined(s config.FileServer, flag string) (config.FileServer, error) {
	profile := w.proposed(s)
	switch {
	case flag == "" || profile == "":
		return s, nil
	case flag != autoSandbox && !slices.Contains(confine.Profiles, flag):
		return s, usage("--sandbox %q is none of auto, %s", flag, strings.Join(confine.Profiles, ", "))
	case flag != autoSandbox:
		profile = flag
	}
	s.Fields = append(slices.Clip(s.Fields), document.Field{Name: "sandbox", Value: profile})
	return s, nil
}

// tellProposal says what a new server could touch, and what a sandbox would leave of it.
func (w world) tellProposal(s config.FileServer, indent string) {
	profile, has := w.proposed(s), false
	if set, ok := field(s, "sandbox").(string); ok {
		profile, has = set, true
	}
	if profile == "" {
		return
	}
	if profile == confine.ProfileOff {
		fmt.Fprintf(w.out, "%sit may do all that you may; a sandbox of secateur does not reach into its container\n", indent)
		return
	}
	cwd, _ := field(s, "cwd").(string)
	set := upstream.Settings{ID: s.ID, Command: commandOf(s), Cwd: cwd, Sandbox: &confine.Settings{Profile: profile}}
	box, err := app.SandboxOf(w.appOptions(nil), set)
	if err != nil {
		fmt.Fprintf(w.out, "%s%v\n", indent, err)
		return
	}
	may := strings.Join(box.May, "; ")
	if has {
		fmt.Fprintf(w.out, "%ssandbox %s: %s\n", indent, profile, may)
		return
	}
	fmt.Fprintf(w.out, "%sit may do all that you may; --sandbox %s: %s\n", indent, profile, may)
}

func commandOf(s config.FileServer) (command []string) {
	argv, _ := field(s, "command").([]any)
	for _, arg := range argv {
		text, _ := arg.(string)
		command = append(command, text)
	}
	return command
}
