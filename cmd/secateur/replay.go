package main

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"secateur/internal/replay"
)

func newReplay(w world) *cobra.Command {
	var file string
	var asJSON, silent bool
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Play recorded conversations: what each masking strategy would have cost",
		Long: `replay plays recorded conversations through every masking strategy and prints what each
would have cost, over the bill of passing everything through, at the prices of the
well-known providers.

A file has one JSON object a line, plain or gzipped: whole sessions, or the bodies of
chat completion requests in the order they were sent. "-" is standard input.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			var sessions []replay.Session
			for _, f := range files {
				more, err := replay.ReadFile(f)
				if err != nil {
					return err
				}
				sessions = append(sessions, more...)
			}
			report, err := replay.Run(cmd.Context(), sessions, replay.Options{
				Strategies: replay.Strategies(cfg.ObservationMasking.Schema1, cfg.ContextPruning),
				Tables:     replay.Tables(),
				Silent:     silent,
			})
			if err != nil {
				return err
			}
			if asJSON {
				return json.MarshalWrite(w.out, report, jsontext.Multiline(true))
			}
			return report.WriteText(w.out)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&silent, "silent", false, "ignore the token counts that the provider reported")
	return cmd
}
