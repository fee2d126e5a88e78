package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

func newReload(w world) *cobra.Command {
	var flags daemonFlags
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the running program read its configuration again",
		Long: `reload applies what has changed in the configuration file: servers are added, removed and restarted,
those that have not changed keep their process. A file with mistakes changes nothing; they are
shown with file, line and key, and the exit status is 3.` + daemonHelp,
		Example: `  secateur reload --dry-run
  secateur reload`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			path := "/reload"
			if dryRun {
				path += "?dry_run=true"
			}
			done := w.progress("reloading")
			raw, err := c.do(cmd.Context(), http.MethodPost, path, nil)
			done()
			if err != nil {
				return w.notReloaded(err)
			}
			r, err := decode[admin.Reloaded](raw)
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			w.printReload(r, dryRun)
			return nil
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change and change nothing")
	return cmd
}

// notReloaded is why a configuration was not applied.
func (w world) notReloaded(err error) error {
	p, ok := errors.AsType[*admin.Problem](err)
	if !ok || p.Code != admin.CodeConfigInvalid {
		return err
	}
	for _, e := range p.Errors {
		at := e.File
		if e.Line > 0 {
			at = fmt.Sprintf("%s:%d", e.File, e.Line)
		}
		fmt.Fprintf(w.err, "%s: %s: %s\n", at, e.Key, e.Message)
	}
	return exitError{exitConfig, fmt.Errorf("%s; nothing was changed", plural(len(p.Errors), "mistake"))}
}

func (w world) printReload(r admin.Reloaded, dryRun bool) {
	if !r.Changed {
		fmt.Fprintln(w.out, "nothing has changed")
		return
	}
	if dryRun {
		fmt.Fprintln(w.out, "a reload would change:")
	}
	for _, line := range []struct {
		what string
		ids  []string
	}{
		{"added", r.Added}, {"removed", r.Removed}, {"restarted", r.Restarted}, {"unchanged", r.Unchanged}, {"keys", r.Keys}, {"waits for a restart", r.RestartNeeded},
	} {
		if len(line.ids) > 0 {
			fmt.Fprintf(w.out, "%-19s  %s\n", line.what, strings.Join(line.ids, ", "))
		}
	}
}
