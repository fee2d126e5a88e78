package app

import (
	"context"
	"errors"
	"math"
	"net/http"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/llm/replay"
	"secateur/internal/ops/admin"
)

// trial reports what would happen to a request.
type trial func(ctx context.Context, req admin.RequestTrial) (admin.TriedRequest, error)

// oneAtATime serializes trials: one may take a second of a core and a hundred megabytes.
func oneAtATime(try trial) trial {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, req admin.RequestTrial) (admin.TriedRequest, error) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
			return try(ctx, req)
		case <-ctx.Done():
			return admin.TriedRequest{}, ctx.Err()
		}
	}
}

// tryRequest plays a request as `secateur replay` does, with the live settings and prices.
func (a *App) tryRequest(ctx context.Context, req admin.RequestTrial) (admin.TriedRequest, error) {
	session, err := replay.ReadRequest([]byte(req.Request))
	switch {
	case errors.Is(err, replay.ErrTooLong):
		return admin.TriedRequest{}, admin.NewProblem(http.StatusRequestEntityTooLarge, admin.CodeInvalidRequest, err.Error(), "secateur replay FILE plays recorded conversations of any length")
	case err != nil:
		return admin.TriedRequest{}, admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, "request: "+err.Error(), "paste the JSON body of one request to chat completions, Messages or Responses")
	}
	if req.Model == "" {
		req.Model = session.Model
	}
	cfg := a.live.Load().cfg
	doors := proxy.Options{Providers: cfg.Providers, Models: cfg.Models, DefaultProvider: cfg.DefaultProvider}
	masking, pruning := cfg.ObservationMasking.Schema1, cfg.ContextPruning
	t, err := replay.Try(ctx, session, req.Model, replay.Options{
		Strategies: replay.Strategies(masking, pruning),
		Current:    replay.Strategy{Masking: masking, Pruning: pruning},
		Ruler:      replay.Tokens,
		Prices: func(model, _ string) (bill.Prices, bool) {
			p := doors.Prices(model)
			return p, p.Input > 0
		},
	})
	if err != nil {
		return admin.TriedRequest{}, err
	}
	return triedRequest(req, t), nil
}

// triedRequest converts the result of a trial.
func triedRequest(req admin.RequestTrial, t *replay.Trial) admin.TriedRequest {
	out := admin.TriedRequest{Format: t.Format.String(), Model: req.Model, Requests: t.Requests, PassthroughUSD: t.Through, Out: req.Request}
	if t.Out != nil {
		out.Out = string(t.Out)
	}
	if p := t.Prices; p != nil {
		out.Prices = &admin.TrialPrices{Input: p.Input, CachedInput: priceOr(p.CachedInput, p.Input), CacheWrite: priceOr(p.CacheWrite, p.Input)}
	}
	for _, s := range t.Strategies {
		ratio := 1.0
		if t.Through > 0 {
			ratio = s.Spent / t.Through
		}
		out.Strategies = append(out.Strategies, admin.TriedStrategy{Name: s.Name, Chosen: s.Current, USD: s.Spent, Ratio: ratio, Masked: s.Masked, Pruned: s.Pruned})
	}
	for _, m := range t.Pieces {
		out.Messages = append(out.Messages, admin.TriedMessage{
			Message: m.Message, Role: m.Role, Tool: m.Tool, CallID: m.CallID, How: howNames[m.Kind], OriginalChars: m.Chars, KeptChars: m.Kept,
			TokensBefore: int(math.Round(m.Before)), TokensAfter: int(math.Round(m.After)), Text: beginningOf(m.Text),
		})
	}
	return out
}

var howNames = map[chat.Kind]string{chat.Whole: "kept", chat.Masked: "masked", chat.Pruned: "pruned"}

func priceOr(price *float64, otherwise float64) float64 {
	if price == nil {
		return otherwise
	}
	return *price
}

// beginningOf returns the part of a text that a page shows. The whole text is in the body that
// would be sent.
func beginningOf(text string) string {
	const most = 16_000 // characters
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
