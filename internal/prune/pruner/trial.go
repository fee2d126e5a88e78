package pruner

import (
	"context"

	"secateur/internal/prune"
)

// Trial is the result of `secateur prune` for a text, with the reasons.
type Trial struct {
	Result PruneResult
	Source prune.Source
	Form   prune.Form
	Scores []float64 // of each line, NaN: not ranked by itself; nil: nothing was ranked
}

// Try returns the command's result for a text, and the ranks of its lines. It stores and counts
// nothing.
func (s *Server) Try(ctx context.Context, cmd PruneCommand, text string) Trial {
	req := cmd.request("", text)
	t := Trial{Result: s.Preview(ctx, req), Source: req.Source, Form: prune.FormOf(text)}
	if !t.Result.Stats.UsedFallback {
		s.safely(ctx, "rank", func() {
			t.Scores = prune.Scores(prune.Request{Text: text, Goal: req.Goal, Source: req.Source, Structure: s.structure})
		})
	}
	return t
}
