package app

import (
	"context"

	"secateur/internal/access"
	"secateur/internal/llm/compress"
	"secateur/internal/llm/proxy"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/history"
)

// hangCompress hangs the routes for gateways that have conversations thinned out. Results are pruned by context_pruning, whether or not the
// chat door does so, too.
func (gen *generation) hangCompress(mux *router, g guard) {
	s := &compress.Server{
		Pruning: gen.cfg.ContextPruning, Originals: gen.store, Index: gen.records, Admission: gen.admission, MaxBytes: gen.cfg.MaxBodyBytes,
		Observe: gen.compressCut, Recovered: gen.recovered, Log: gen.log,
	}
	mux.Handle(compress.Path, g.shut(proxy.Refuse, g.watch(access.DoorChat, s.Serve)))
	mux.Handle(compress.RetrievePath+"{hash}", g.shut(proxy.Refuse, g.watch(access.DoorChat, s.ServeRetrieve)))
}

// compressCut counts a result that was cut for a gateway.
func (gen *generation) compressCut(ctx context.Context, c compress.Cut) {
	gen.savings.Cut(events.Cut{
		ID: c.ID, Feature: history.FeaturePruned, OriginalChars: c.Chars, KeptChars: c.Kept, TokensSaved: c.Tokens, RequestID: telemetry.RequestID(ctx),
		How: &events.Removal{Reason: "a big result, pruned for a gateway", Sent: events.SentAs(c.Sent)},
	})
}
