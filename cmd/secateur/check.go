package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCheck(w world) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Validate the configuration: every mistake with file, line and key",
		Long: `check reads FILE, or the configuration that 'serve' would use, and reports every mistake in it.
It judges the file, not the machine: commands are not looked for and addresses not called.

Exit status 3 if there is a mistake.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
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
			for _, p := range l.Warnings {
				fmt.Fprintln(w.out, p)
			}
			if len(l.mistakes) > 0 {
				w.complain(l.mistakes)
				return exitError{exitConfig, fmt.Errorf("%s in %s", plural(len(l.mistakes), "mistake"), l.name())}
			}
			fmt.Fprintf(w.out, "%s: ok, %s\n", l.name(), plural(len(l.Servers), "server"))
			return nil
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", "", "configuration `file`, TOML or JSON (default: $SECATEUR_CONFIG; for serve and check ./secateur.toml; the user's configuration directory)")
}
