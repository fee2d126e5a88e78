package pruner

import (
	"context"
	"runtime/debug"
	"time"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// PruneRequest is a text to prune with its options.
type PruneRequest struct {
	Text           string // WTF-8
	Goal           string
	Source         prune.Source
	MaxPruneRatio  float64
	MinKeepLines   int
	Timeout        time.Duration // for the local engine; a reranker gets the same time again
	AnnotateLines  bool
	IncludeMarkers bool
}

// PruneResult is the rest of a text and a description of its cuts.
type PruneResult struct {
	ID          string // of the original
	Text        string
	Annotations []prune.Annotation
	Stats       Stats
	Warnings    []string
}

// Pruned is a text that was cut.
type Pruned struct {
	Request PruneRequest
	Result  PruneResult
}

// Stats are the numbers of a prune.
type Stats struct {
	OriginalLines, KeptLines int
	TokensBefore             int // an estimate, like all tokens here
	TokensAfter              int
	Elapsed                  time.Duration
	UsedFallback             bool // the text is whole, or was pruned without the configured backend
	Backend                  string
	CostUSD                  float64 // value of the saved tokens
	Rerank                   RerankStats
}

// PrunedLines returns the number of lines cut.
func (s Stats) PrunedLines() int { return s.OriginalLines - s.KeptLines }

// PrunedRatio returns the share of lines cut.
func (s Stats) PrunedRatio() float64 {
	if s.OriginalLines == 0 {
		return 0
	}
	return float64(s.PrunedLines()) / float64(s.OriginalLines)
}

// TokensSaved may be negative, because markers and line numbers also cost tokens.
func (s Stats) TokensSaved() int { return s.TokensBefore - s.TokensAfter }

// Reasons for returning a whole text.
const (
	warnInputTooLarge       = "input_too_large"
	warnTimeout             = "timeout"
	warnConstraintsUnmet    = "constraints_unmet"
	warnInternalError       = "internal_error"
	warnRecoveryUnavailable = "recovery_unavailable"
)

// Prune cuts a text for a goal. It always returns a usable text: the whole one if it cannot be cut
// within the request's bounds, or if the original cannot be stored.
func (s *Server) Prune(ctx context.Context, req PruneRequest) PruneResult {
	res, fallback := s.prune(ctx, req, s.keep)
	s.metrics.pruned(res.Stats, fallback)
	if s.opt.Pruned != nil && fallback == "" && len(res.Annotations) > 0 {
		s.opt.Pruned(ctx, Pruned{req, res})
	}
	return res
}

// Preview returns the result of Prune without storing the original or counting anything.
func (s *Server) Preview(ctx context.Context, req PruneRequest) PruneResult {
	res, _ := s.prune(ctx, req, func(ctx context.Context, text string) (id string, kept bool) {
		return s.opt.Originals.ID(s.tenant(ctx), text), true
	})
	return res
}

// prune also returns why a text was not cut. keep stores the original.
func (s *Server) prune(ctx context.Context, req PruneRequest, keep func(ctx context.Context, text string) (id string, kept bool)) (_ PruneResult, fallback string) {
	began := s.opt.Now()
	plan, opinion, fallback := s.decide(ctx, req)
	res := PruneResult{Text: req.Text, Annotations: []prune.Annotation{}, Warnings: opinion.warnings}
	res.Stats = Stats{
		OriginalLines: prune.IndexLines(req.Text).Len(),
		Backend:       string(s.backend),
		UsedFallback:  opinion.failed,
		Rerank:        opinion.stats,
	}
	res.Stats.KeptLines = res.Stats.OriginalLines
	var kept bool
	if res.ID, kept = keep(ctx, req.Text); !kept && fallback == "" {
		fallback = warnRecoveryUnavailable // never cut what cannot be restored
	}
	if fallback == "" && !s.render(ctx, req, plan, &res) {
		fallback = warnInternalError
	}
	if fallback != "" {
		res.Stats.UsedFallback = true
		res.Warnings = append(res.Warnings, fallback)
		if !kept && fallback != warnRecoveryUnavailable {
			res.Warnings = append(res.Warnings, warnRecoveryUnavailable)
		}
	}
	res.Stats.TokensBefore = req.Source.Tokens(req.Text)
	res.Stats.TokensAfter = res.Stats.TokensBefore
	if fallback == "" {
		res.Stats.TokensAfter = req.Source.Tokens(res.Text)
	}
	res.Stats.CostUSD = float64(res.Stats.TokensSaved()) * s.opt.USDPerMillionToken / 1e6
	res.Stats.Elapsed = s.opt.Now().Sub(began)
	return res, fallback
}

// decide plans the cut, or returns why none is possible. "" with an empty plan means that nothing
// is worth cutting.
func (s *Server) decide(ctx context.Context, req PruneRequest) (plan prune.Result, op opinion, fallback string) {
	if rawjson.Chars(req.Text) > s.opt.MaxInputChars {
		return plan, op, warnInputTooLarge
	}
	watch := stopwatch{now: s.opt.Now, limit: req.Timeout}
	request := prune.Request{
		Text: req.Text, Goal: req.Goal, Source: req.Source, Structure: s.structure,
		MaxPruneRatio: req.MaxPruneRatio, MinKeepLines: req.MinKeepLines,
		Expired: func() bool { return watch.expired() || ctx.Err() != nil },
	}
	if req.IncludeMarkers {
		request.Marker = func(b prune.Block) string { return prune.Marker(prune.CostlyID, b) }
	}
	sound := s.safely(ctx, "plan", func() {
		op = s.consult(ctx, request, &watch, req.Timeout)
		request.Prefer = op.prefer
		watch.start()
		plan = prune.Plan(request)
	})
	switch {
	case !sound:
		return prune.Result{}, op, warnInternalError
	case plan.TimedOut:
		return plan, op, warnTimeout
	case plan.Unmet:
		return plan, op, warnConstraintsUnmet
	}
	return plan, op, ""
}

// keep stores the original. The id depends only on the text, so it exists even if the store
// refuses.
func (s *Server) keep(ctx context.Context, text string) (id string, kept bool) {
	id, err := s.opt.Originals.Put(ctx, s.tenant(ctx), text)
	if err != nil {
		id = s.opt.Originals.ID(s.tenant(ctx), text)
		s.opt.Log.DebugContext(ctx, "original not kept, text passes whole", "id", id, "bytes", len(text), "err", err)
		return id, false
	}
	return id, true
}

// render performs the planned cut.
func (s *Server) render(ctx context.Context, req PruneRequest, plan prune.Result, res *PruneResult) bool {
	return s.safely(ctx, "render", func() {
		text, notes := prune.Render(req.Text, plan, res.ID, req.AnnotateLines, req.IncludeMarkers)
		res.Text, res.Annotations = text, notes
		res.Stats.OriginalLines, res.Stats.KeptLines = plan.Lines, plan.Kept
	})
}

// safely runs a step of the engine and reports whether it completed. After a panic the text stays
// whole, but the call succeeds.
func (s *Server) safely(ctx context.Context, step string, f func()) (sound bool) {
	defer func() {
		if p := recover(); p != nil {
			s.opt.Log.ErrorContext(ctx, "pruning panicked, text passes whole", "step", step, "panic", p, "stack", string(debug.Stack()))
			sound = false
		}
	}()
	f()
	return true
}

// stopwatch measures the engine's time, with pauses.
type stopwatch struct {
	now   func() time.Time
	limit time.Duration
	spent time.Duration // before since
	since time.Time
}

func (w *stopwatch) start()        { w.since = w.now() }
func (w *stopwatch) pause()        { w.spent += w.now().Sub(w.since) }
func (w *stopwatch) expired() bool { return w.spent+w.now().Sub(w.since) >= w.limit }
