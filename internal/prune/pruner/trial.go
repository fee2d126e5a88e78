package pruner

import (
	"context"

	"secateur/internal/prune"
)

// Trial is what `secateur prune` would do with a text, and why.
type Trial struct {
	Result PruneResult
	Source prune.Source
	Form   prune.Form
	Scores []float64 // of each line, NaN where it is not ranked by itself; nil: nothing was ranked
}

// Try tells what the command would answer for a text, and how it ranks the lines. Nothing is kept or counted.
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
