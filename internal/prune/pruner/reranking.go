package pruner

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"secateur/internal/prune"
	"secateur/internal/prune/rerank"
)

// Rerank scores documents for a query, as [rerank.Client.Score] does.
type Rerank func(ctx context.Context, tenant, query string, docs []string) (rerank.Result, error)

// RerankStats describe a reranker's part in a prune.
type RerankStats struct {
	Ran         bool // it returned scores
	Latency     time.Duration
	LinesScored int
	LinesTotal  int
	HTTPStatus  int // 0: no relevant status
	Cached      bool
}

// opinion is a reranker's result for the lines of a text.
type opinion struct {
	prefer   []float64 // a score for each line, NaN: none; nil: no scores
	stats    RerankStats
	warnings []string
	failed   bool
}

// consult asks the reranker, if one is configured and a decision is needed. It has the whole limit
// to itself: the watch, which measures the local engine, pauses meanwhile.
func (s *Server) consult(ctx context.Context, req prune.Request, watch *stopwatch, limit time.Duration) opinion {
	lines := prune.IndexLines(req.Text).Len()
	if s.backend == rerank.Heuristic || req.MaxPruneRatio <= 0 || req.MinKeepLines >= lines || strings.TrimSpace(req.Goal) == "" {
		return opinion{}
	}
	if s.opt.Rerank == nil {
		return s.noOpinion(rerank.KindConfig, 0)
	}
	watch.start()
	// One more, to detect whether some are left out.
	pieces := prune.Candidates(req, s.opt.DeepInfraMaxDocs+1)
	watch.pause()
	if len(pieces) == 0 {
		return opinion{}
	}
	truncated := len(pieces) > s.opt.DeepInfraMaxDocs
	pieces = pieces[:min(len(pieces), s.opt.DeepInfraMaxDocs)]
	docs := make([]string, len(pieces))
	for i, p := range pieces {
		docs[i] = p.Text
	}
	ctx, cancel := context.WithTimeout(ctx, min(limit, s.opt.DeepInfraTimeout))
	defer cancel()
	scores, err := s.opt.Rerank(ctx, s.tenant(ctx), req.Goal, docs)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "reranker failed, pruning without it", "backend", s.backend, "docs", len(docs), "err", err)
		if e, ok := errors.AsType[*rerank.Error](err); ok {
			return s.noOpinion(e.Kind, e.Status)
		}
		return s.noOpinion(rerank.KindHTTP, 0)
	}
	if len(scores.Scores) != len(docs) {
		return s.noOpinion(rerank.KindParse, 0)
	}
	return s.opinionOf(pieces, scores, lines, truncated)
}

// noOpinion describes a failed request. It keeps the HTTP status only if that was the failure.
func (s *Server) noOpinion(kind rerank.Kind, status int) opinion {
	if kind != rerank.KindHTTP {
		status = 0
	}
	backend := string(s.backend)
	return opinion{
		failed:   true,
		stats:    RerankStats{HTTPStatus: status},
		warnings: []string{backend + "_error", backend + "_" + string(kind) + "_error"},
	}
}

// opinionOf assigns the scores of pieces to their lines. LinesScored counts lines: if every piece
// was scored, the blank lines between them count too.
func (s *Server) opinionOf(pieces []prune.Candidate, scores rerank.Result, lines int, truncated bool) opinion {
	op := opinion{prefer: make([]float64, lines)}
	for i := range op.prefer {
		op.prefer[i] = math.NaN()
	}
	scored := 0
	for i, p := range pieces {
		for line := p.Start; line <= p.End; line++ {
			op.prefer[line-1] = scores.Scores[i]
			scored++
		}
	}
	if !truncated {
		scored = lines
	}
	op.stats = RerankStats{
		Ran: true, Latency: scores.Latency, HTTPStatus: scores.Status, Cached: scores.Cached,
		LinesScored: scored, LinesTotal: lines,
	}
	if scores.Cached {
		op.stats.Latency = 0
		op.warnings = append(op.warnings, "cache_hit")
	}
	if scored < lines {
		op.warnings = append(op.warnings, string(s.backend)+"_docs_truncated")
	}
	return op
}
