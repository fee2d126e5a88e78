package main

import (
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/llm/replay"
)

func newReplay(w world) *cobra.Command {
	var file string
	var asJSON, silent bool
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Play recorded conversations: what each masking strategy would have cost",
		Long: `replay plays recorded conversations through every masking strategy. It says first what the
conversations would have cost in dollars, and what to write into the configuration; then
what each strategy would have cost over the bill of passing everything through, at the
prices of the well-known providers.

Prices are those of the configuration, else list prices by the model's name and the session's day. Tokens are
counted with a tokenizer (o200k_base); a provider with another one counts other numbers, in
much the same proportions. Output costs the same either way and is left out.

A file has JSON objects, one a line, plain or gzipped; what they are is told by their shape:
  bodies of requests, in the order they were sent: chat completions, Anthropic Messages, OpenAI Responses
  a transcript of Claude Code (~/.claude/projects/…/*.jsonl) or a rollout of Codex (~/.codex/sessions/…/*.jsonl)
  whole sessions: an id and the messages of a chat completion
"-" is standard input.`,
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
			var part atomic.Uint64 // of all requests, in thousandths
			done := w.progressOf(func() (string, float64) { return "replaying", float64(part.Load()) / 1000 })
			report, err := replay.Run(cmd.Context(), sessions, replay.Options{
				Strategies: replay.Strategies(cfg.ObservationMasking.Schema1, cfg.ContextPruning),
				Tables:     replay.Tables(),
				Ruler:      replay.Tokens,
				Prices:     configuredPrices(cfg),
				Current:    replay.Strategy{Masking: cfg.ObservationMasking.Schema1, Pruning: cfg.ContextPruning},
				Silent:     silent,
				Progress:   func(played, of int) { part.Store(uint64(1000 * played / of)) }, //nolint:gosec // of is none below played
			})
			done()
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

// configuredPrices are the prices that serve would decide by.
func configuredPrices(cfg *config.Config) replay.Prices {
	doors := proxy.Options{Providers: cfg.Providers, Models: cfg.Models, DefaultProvider: cfg.DefaultProvider}
	return func(model, day string) (bill.Prices, bool) {
		p, _ := doors.PricesAt(model, day)
		return p, p.Input > 0
	}
}
