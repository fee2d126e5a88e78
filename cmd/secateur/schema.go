package main

import (
	"github.com/spf13/cobra"

	"secateur/internal/config"
)

func newSchema(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := w.out.Write(config.Schema())
			return err
		},
	}
}
