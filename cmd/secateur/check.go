package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"secateur/internal/config"
)

func newCheck(w world) *cobra.Command {
	var file string
	var explain, asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE | --explain PRINCIPAL TARGET]",
		Short: "Validate the configuration: every mistake with file, line and key",
		Long: `check reads FILE, or the configuration that 'serve' would use, and reports every mistake in it.
It judges the file, not the machine: commands are not looked for and addresses not called.
Of servers with a sandbox it says what they may touch.
A variable that is not set counts, although 'serve' leaves out only the server that needs it.

With --explain it says whether a caller may have something, which rule of [[acl]] decides and why
the others do not. PRINCIPAL is a token's name, a key id, or subject=a,tenant=b,role=c; TARGET is
server::tool, prompt:NAME, resource:URI, model:NAME or route:PATH.

Exit status 3 if there is a mistake.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if explain {
				return explainAccess(w, file, args, asJSON)
			}
			if len(args) > 1 {
				return usage("check takes one configuration, not %d", len(args))
			}
			if len(args) > 0 && file != "" {
				return usage("two configurations are named, %s and %s; name one", args[0], file)
			}
			if len(args) > 0 {
				file = args[0]
			}
			l, err := w.load(file, "", orWorkingDir)
			if err != nil {
				return err
			}
			mistakes := l.mistakes
			for _, p := range l.Warnings {
				if p.Severity == config.Unready {
					mistakes = append(mistakes, p)
					continue
				}
				fmt.Fprintln(w.out, p)
			}
			if len(mistakes) > 0 {
				w.complain(mistakes)
				return exitError{exitConfig, fmt.Errorf("%s in %s", plural(len(mistakes), "mistake"), l.name())}
			}
			fmt.Fprintf(w.out, "%s: ok, %s\n", l.name(), plural(len(l.Servers), "server"))
			w.printSandboxes(l.Config)
			return nil
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&explain, "explain", false, "say which rule decides about a PRINCIPAL and a TARGET, and why")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --explain: print one JSON object")
	return cmd
}

func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", "", "configuration `file`, TOML or JSON (default: $SECATEUR_CONFIG; for serve and what checks its file ./secateur.toml; the user's configuration directory)")
}
