package app

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/demo"
	"secateur/internal/ops/admin"
	"secateur/internal/prune"
	"secateur/internal/prune/pruner"
)

// playground lets a person try out cuts.
func (a *App) playground() admin.Playground {
	return admin.Playground{Text: a.tryText, Demos: sync.OnceValue(demos), Conversation: oneAtATime(a.tryRequest)}
}

// trialTime is the time limit for a text, as in `secateur prune`.
const trialTime = 10 * time.Second

// tryText prunes a text as `secateur prune` does and leaves no trace.
func (a *App) tryText(ctx context.Context, p *access.Principal, req admin.TextTrial) (admin.TriedText, error) {
	server := a.live.Load().pruner
	if server == nil {
		return admin.TriedText{}, admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, "the pruner is not enabled", "set enabled = true in [mcp_pruner]")
	}
	t := server.Try(access.NewContext(ctx, p), pruner.PruneCommand{
		Goal: req.Goal, Type: req.Type, Ratio: *req.Ratio, MinKeepLines: req.MinKeepLines, Timeout: trialTime, Markers: true,
	}, req.Text)
	out := admin.TriedText{Type: t.Source.String(), Form: t.Form.String(), Result: t.Result.AppendJSON(nil), Scores: make([]*float64, len(t.Scores))}
	for i, score := range t.Scores {
		if !math.IsNaN(score) {
			out.Scores[i] = &t.Scores[i]
		}
	}
	return out, nil
}

// demos returns the texts of the demo server.
func demos() (all []admin.Demo) {
	for _, t := range demo.Texts() {
		all = append(all, admin.Demo{Name: t.Name, Title: t.Title, Type: prune.Guess("", t.Text).String(), Goal: t.Goal, Text: t.Text})
	}
	return all
}
