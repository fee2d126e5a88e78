package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/mcp/upstream"
	"secateur/internal/secret"
)

func newApprove(w world) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "approve [ID]...",
		Short: "Let a server run that came by import or with a repository",
		Long: `approve lets held servers start. A server is held if it came by 'secateur import' or is listed in
a repository's .mcp.json: it is shown and not started. The approval is for the command,
variables, address and sandbox that it has now; if one of them changes, the server is held again.
Without an ID it lists the held servers with their whole commands.

trust = true under [import] does without approvals.`,
		Example: `  secateur approve
  secateur approve notes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := w.load(file, "", orWorkingDir)
			if err != nil {
				return err
			}
			if len(l.mistakes) > 0 {
				w.complain(l.mistakes)
				return exitError{exitConfig, fmt.Errorf("%s in %s", plural(len(l.mistakes), "mistake"), l.name())}
			}
			if len(args) == 0 {
				w.listHeld(l.Config)
				return nil
			}
			return w.approveServers(cmd.Context(), l.Config, args)
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func (w world) listHeld(cfg *config.Config) {
	held := 0
	for _, s := range cfg.Servers {
		if s.Held {
			held++
			w.showHeld(cfg, s)
		}
	}
	if held == 0 {
		fmt.Fprintln(w.out, "no server is held")
	}
}

// showHeld prints everything that an approval is about.
func (w world) showHeld(cfg *config.Config, s upstream.Settings) {
	what := strings.Join(quoted(s.Command), " ")
	if s.URL != "" {
		what = secret.URL(s.URL)
	}
	fmt.Fprintf(w.out, "%s: %s\n", s.ID, what)
	if s.Cwd != "" {
		fmt.Fprintf(w.out, "  works in %s\n", s.Cwd)
	}
	switch {
	case s.Sandbox.On():
		w.printSandbox(cfg, s, "  ")
	case len(s.Command) > 0:
		fmt.Fprintln(w.out, "  has no sandbox: it may do all that you may")
	}
}

func (w world) approveServers(ctx context.Context, cfg *config.Config, ids []string) error {
	for _, id := range ids {
		i := slices.IndexFunc(cfg.Servers, func(s upstream.Settings) bool { return s.ID == id })
		switch {
		case i < 0:
			return fmt.Errorf("there is no server %q; 'secateur approve' lists those that are held", id)
		case !cfg.Servers[i].Held:
			fmt.Fprintf(w.out, "%s is not held\n", id)
			continue
		}
		w.showHeld(cfg, cfg.Servers[i])
		if err := app.Approve(w.stateDir, cfg.Servers[i]); err != nil {
			return err
		}
		fmt.Fprintf(w.out, "approved %s\n", id)
	}
	if c, err := w.reach(ctx, daemonFlags{}); err == nil { // else it starts with the program
		if _, err := c.do(ctx, http.MethodPost, "/reload", nil); err != nil {
			return fmt.Errorf("approved, but the running program did not reload: %w", err)
		}
	}
	return nil
}
