package main

import (
	"fmt"
	"strings"

	"secateur/internal/app"
	"secateur/internal/config"
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
