package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/llm/proxy"
	"secateur/internal/llm/tokens"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/prune/pruner"
	"secateur/internal/rawjson"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
)

// openTelemetry makes the metrics, the tracing and the history.
func (a *App) openTelemetry() error {
	ctx := context.Background()
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingOptions{Settings: a.cfg.Telemetry, Version: a.opt.Version, Log: a.log}); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	a.closers = append(a.closers, a.tracing)
	opt := history.Options{Redis: a.redis, Log: a.log}
	if a.opt.StateDir != "" {
		opt.Dir = filepath.Join(a.opt.StateDir, "history")
	}
	if a.history, err = history.Open(opt); err != nil {
		a.log.WarnContext(ctx, "the state directory cannot be written, so what is saved is forgotten with a restart", "err", err)
		opt.Dir = ""
		if a.history, err = history.Open(opt); err != nil {
			return err
		}
	}
	a.closers = append(a.closers, a.history)
	a.savings = telemetry.NewSavings(a.registry, a.history, a.feed)
	a.reloaded = telemetry.NewReloads(a.registry, a.started)
	a.tools = telemetry.NewToolLabels()
	a.registry.MustRegister(newReplicaMetrics(a.replicas.Counted))
	a.registry.MustRegister(
		newLimitMetrics(func() []limit.Usage {
			if gen := a.live.Load(); gen != nil {
				return gen.admission.Usage()
			}
			return nil
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "secateur_sessions", Help: "Open sessions of MCP clients."}, func() float64 {
			switch {
			case a.opt.Lazy:
				return 1 // the pipe's own
			case a.mcp == nil:
				return 0
			}
			return float64(a.mcp.Sessions())
		}))
	return nil
}

// cutMade counts an observation that was cut.
func (a *App) cutMade(m cutting.Made) {
	a.savings.Cut(events.Cut{
		ID: m.ID, Feature: m.Door, Server: m.Server, Tool: a.tools.Label(m.Server, m.Tool), OriginalChars: m.Chars, KeptChars: m.Kept, TokensSaved: m.Tokens,
		RequestID: m.RequestID, How: a.middleOut(m),
	})
}

// recovered counts a part of an original that was given back.
func (a *App) recovered(id, returned string) {
	a.savings.Recovered(id, int64(tokens.Sample(returned, tokens.Logs)))
}

// middleOut describes what was removed from an observation that is too long.
func (a *App) middleOut(m cutting.Made) *events.Removal {
	masking := a.live.Load().cfg.ObservationMasking
	s := masking.Gateway
	if m.Door == history.FeatureMCP {
		s = masking.MCP.Settings
	}
	if m.Sent != "" {
		return &events.Removal{
			Reason: fmt.Sprintf("it has %d characters, more than max_chars = %d: it was pruned for what its call asked", m.Chars, s.MaxChars),
			Sent:   events.SentAs(m.Sent),
		}
	}
	reason := fmt.Sprintf("it has %d characters, more than max_chars = %d: its head and its tail stay", m.Chars, s.MaxChars)
	s.HeadChars, s.TailChars, s.MaxChars = m.Head, m.Tail, max(m.Head+m.Tail, 1)
	return &events.Removal{
		Reason: reason,
		Parts:  []events.Part{{StartChar: s.HeadChars, EndChar: m.Chars - s.TailChars}},
		Sent:   func(original string) string { return middleCut(s, m.ID, original) },
	}
}

// middleCut returns a text that is too long as it is sent: with its middle cut.
func middleCut(s mask.Settings, id, original string) string {
	m, err := mask.New(s)
	if err != nil {
		return ""
	}
	doc := rawjson.AppendQuoted(nil, original)
	long, err := rawjson.LongStrings(doc, 1, m.LongString())
	if err != nil {
		return ""
	}
	cuts := m.Cuts(doc, long)
	for i := range cuts {
		cuts[i].ID = id
	}
	return rawjson.Unquote(m.Append(nil, doc, cuts))
}

// textPruned publishes a text that a model pruned with the pruner's tool.
func (gen *generation) textPruned(ctx context.Context, p pruner.Pruned) {
	how := &events.Removal{Reason: "prune_text was called for it", Goal: events.ClipGoal(p.Request.Goal), Sent: events.SentAs(p.Result.Text)}
	for _, a := range p.Result.Annotations {
		part := events.Part{StartLine: a.StartLine, EndLine: a.EndLine, Reason: a.Reason}
		if a.EndChar > 0 {
			part = events.Part{StartChar: a.StartChar, EndChar: a.EndChar, Reason: a.Reason}
		}
		how.Parts = append(how.Parts, part)
	}
	gen.savings.Cut(events.Cut{
		ID: p.Result.ID, Feature: history.FeaturePruned, Server: pruner.ID, Tool: pruner.ToolPrune,
		OriginalChars: rawjson.Chars(p.Request.Text), KeptChars: rawjson.Chars(p.Result.Text), TokensSaved: p.Result.Stats.TokensSaved(), RequestID: telemetry.RequestID(ctx), How: how,
	})
}

// tellServer publishes a server's new state.
func (a *App) tellServer(s upstream.Status) {
	a.feed.Publish(events.Server{ID: s.ID, State: string(s.State), Restarts: s.Restarts, LastError: presentError(s)})
}

// noteReload counts and publishes a reload.
func (a *App) noteReload(done admin.Reloaded, err error) {
	outcome, told := telemetry.ReloadOK, ""
	if err != nil {
		outcome, told = telemetry.ReloadFailed, err.Error()
		if _, invalid := errors.AsType[*InvalidConfig](err); invalid {
			outcome = telemetry.ReloadInvalid
		}
	}
	a.reloaded.Done(outcome, time.Now())
	a.feed.Publish(events.Reload{
		Outcome: outcome, Changed: done.Changed, Added: list(done.Added), Removed: list(done.Removed), Restarted: list(done.Restarted),
		Unchanged: list(done.Unchanged), Keys: list(done.Keys), RestartNeeded: list(done.RestartNeeded), Error: told,
	})
}

// chatObserver counts the costs of conversations.
type chatObserver struct {
	savings *telemetry.Savings
	ledger  *ledger.Ledger
}

// Settled counts a request.
func (o chatObserver) Settled(ctx context.Context, s proxy.Settled) {
	o.ledger.Add(s.Conversation, s.Provider, s.Model, ledger.Request{
		RequestID: telemetry.RequestID(ctx), At: time.Now(), PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, Masked: s.Masked, Pruned: s.Pruned,
		SpentUSD: s.Spent, PassthroughUSD: s.Passthrough, RemovedTokens: int64(s.MaskedTokens + s.PrunedTokens), Why: why(s),
	})
	e := history.Exchange{
		Provider: s.Provider, Model: s.Model, PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, Spent: s.Spent, Passthrough: s.Passthrough,
	}
	if s.MaskedTokens > 0 {
		e.Parts = append(e.Parts, history.Part{Feature: history.FeatureMasked, Weight: float64(s.MaskedTokens)})
	}
	if s.PrunedTokens > 0 {
		e.Parts = append(e.Parts, history.Part{Feature: history.FeaturePruned, Weight: float64(s.PrunedTokens)})
	}
	if len(e.Parts) == 0 && e.Spent != e.Passthrough { // effects of an earlier cut
		e.Parts = []history.Part{{Feature: history.FeatureMasked, Weight: 1}}
	}
	o.savings.Chat(e)
	if s.Arm != "" {
		o.savings.Trial(history.Trial{Arm: string(s.Arm), Conversation: s.Conversation, First: s.First, Paid: s.Paid})
	}
}

// why says what was done to a request, or why nothing was done.
func why(s proxy.Settled) string {
	if n := s.Imitated; n > 0 {
		s.Imitated = 0
		return fmt.Sprintf("%s; in %d calls the model wrote a marker of a cut, so that no more arguments are cut", why(s), n)
	}
	switch {
	case s.Masked+s.Pruned > 0:
		var stand []string
		if s.Masked > 0 {
			stand = append(stand, fmt.Sprintf("%d masked", s.Masked))
		}
		if s.Pruned > 0 {
			stand = append(stand, fmt.Sprintf("%d pruned", s.Pruned))
		}
		return fmt.Sprintf("of its results %s: about %d tokens less", strings.Join(stand, " and "), s.MaskedTokens+s.PrunedTokens)
	case s.Barrier != "":
		return "left alone: " + s.Barrier
	case !s.Priced:
		return "nothing was cut; the model's prices are not known"
	}
	return "nothing was worth cutting"
}

// Cut counts a result that was sent cut.
func (o chatObserver) Cut(ctx context.Context, c proxy.ResultCut) {
	feature, how := history.FeaturePruned, &events.Removal{Reason: "a big result, pruned when it first passed", Goal: events.ClipGoal(c.Goal), Sent: events.SentAs(c.Sent)}
	if c.Masked {
		feature, how.Reason = history.FeatureMasked, "an old result, which the conversation has gone past"
	}
	for _, b := range c.Removed {
		how.Parts = append(how.Parts, events.Part{StartLine: b.Start, EndLine: b.End, Reason: b.Reason})
	}
	o.savings.Cut(events.Cut{
		ID: c.ID, Feature: feature, Model: c.Provider + "/" + c.Model, OriginalChars: c.Chars, KeptChars: c.Kept, TokensSaved: c.Tokens,
		RequestID: telemetry.RequestID(ctx), How: how,
	})
}

// Counted counts a request that the provider's counter has counted without our cuts.
func (o chatObserver) Counted(_ context.Context, c proxy.Counted) {
	o.savings.Counted(history.Count(c))
}

// watch publishes the requests of a door that does not do so itself.
func (g guard) watch(at access.Door, d door) door {
	return func(w http.ResponseWriter, r *http.Request, p *access.Principal) {
		began := time.Now()
		var ended proxy.Ended
		seen := &sizeWriter{statusWriter: statusWriter{ResponseWriter: w, status: http.StatusOK}}
		defer func() { //nolint:contextcheck // it has the request's
			g.feed.PublishRequest(events.Request{
				RequestID: telemetry.RequestID(r.Context()), Door: string(at), Method: routeOf(r), Outcome: outcomeOf(ended.Outcome, seen.status),
				MS: float64(time.Since(began).Microseconds()) / 1000, BytesIn: max(r.ContentLength, 0), BytesOut: seen.size, Subject: p.Name(),
				Model: modelOf(ended),
			})
		}()
		d(seen, r.WithContext(proxy.WithEnded(r.Context(), &ended)), p)
	}
}

// modelOf returns provider/model; "": the request named no model.
func modelOf(e proxy.Ended) string {
	if e.Model == "" {
		return ""
	}
	return e.Provider + "/" + e.Model
}

// routeOf returns the method and the pattern of a request's route: a closed set.
func routeOf(r *http.Request) string {
	if strings.HasPrefix(r.Pattern, r.Method+" ") {
		return r.Pattern
	}
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodHead, http.MethodOptions:
		return r.Method + " " + r.Pattern
	}
	return telemetry.Other + " " + r.Pattern
}

// outcomeOf returns the door's word for the outcome of a request, or else one for its status.
func outcomeOf(said string, status int) string {
	switch {
	case said != "":
		return said
	case status < http.StatusBadRequest:
		return "ok"
	case status == http.StatusTooManyRequests:
		return "rate_limited"
	case status >= http.StatusInternalServerError:
		return "internal_error"
	}
	return "refused"
}

// sizeWriter counts the bytes of a response.
type sizeWriter struct {
	statusWriter
	size int64
}

// Write writes and counts.
func (w *sizeWriter) Write(p []byte) (int, error) {
	n, err := w.statusWriter.Write(p)
	w.size += int64(n)
	return n, err
}
