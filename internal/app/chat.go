package app

import (
	"context"
	"path/filepath"
	"strings"

	"secateur/internal/access"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

// openChat opens the door for chat completions. Its records of sent requests are stored beside the
// originals.
func (gen *generation) openChat(before *generation) (err error) {
	kept, forgetful := before.records, before.forgetful
	if kept == nil {
		if kept, forgetful, err = gen.openRecords(); err != nil {
			return err
		}
	}
	gen.records, gen.forgetful = kept, forgetful
	tokens, refused := gen.providerTokens()
	gen.chat, err = proxy.New(proxy.Options{
		Replaces:        before.chat,
		Providers:       gen.cfg.Providers,
		Models:          gen.cfg.Models,
		DefaultProvider: gen.cfg.DefaultProvider,
		Masking:         gen.cfg.ObservationMasking.Schema1,
		Pruning:         gen.cfg.ContextPruning,
		Proof:           gen.cfg.Proof,
		Originals:       gen.store,
		OriginalsTTL:    gen.cfg.Store.TTL,
		Records:         kept,
		Together:        gen.together(),
		Now:             gen.clock.Now,
		Forgetful:       forgetful,
		RecoverCommand:  gen.recoverCommand(),
		OwnToken:        gen.cfg.AuthToken,
		Tokens:          tokens,
		Refused:         refused,
		Admission:       gen.admission,
		MaxBodyBytes:    gen.cfg.MaxBodyBytes,
		Log:             gen.log,
		Metrics:         gen.registry,
		Observer:        chatObserver{gen.savings, gen.ledger},
	})
	return err
}

// nearRecords is the size of a replica's local cache for conversation records in Redis, for those
// in progress.
const nearRecords = 16 << 20

// openRecords opens the store for records of sent requests. A store in memory loses them on a
// restart. Cut results would then be sent in another form, which costs more than passing through.
func (gen *generation) openRecords() (kept proxy.Records, forgetful bool, err error) {
	ttl := gen.cfg.Store.SentTTL
	dir, onDisk := gen.storeOptions().Dir()
	// A store with more originals means more cuts.
	room := max(gen.cfg.Store.MaxBytes, records.DefaultMaxKept)
	if onDisk {
		kept, err = records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records"), MaxKept: room, TTL: ttl, Log: gen.log})
		return kept, false, err
	}
	if gen.redis != nil {
		return records.NewRedis(records.RedisOptions{DB: gen.redis, MaxBytes: nearRecords, TTL: ttl, Room: room, Tenant: proxy.TenantOf, Log: gen.log}), false, nil
	}
	priced := gen.cfg.ObservationMasking.Schema1.Enabled && gen.cfg.ObservationMasking.Schema1.Strategy == chat.Priced
	if len(gen.cfg.Providers) > 0 && (priced || gen.cfg.ContextPruning.Enabled) {
		gen.log.Warn("the store is in memory: conversations pass whole, since a restart would make what was cut dearer; store.url = \"file:DIR\" keeps what was sent")
	}
	return &records.Memory{TTL: ttl}, true, nil
}

// together writes originals and records in one round trip if both are in one engine; nil: they are
// not.
func (gen *generation) together() proxy.Together {
	kept, ok := gen.records.(*records.Redis)
	if !ok {
		return nil
	}
	store, ok := originals.InOneTrip(gen.store)
	if !ok {
		return nil
	}
	return func(ctx context.Context, tenant string, texts []string, n int, at func(int) (string, []byte, bool)) (ids []string, unkept, unwritten []error) {
		writing := kept.Writing(n, at)
		ids, unkept = store.PutEach(ctx, tenant, texts, writing.Ask)
		return ids, unkept, writing.Errs(ctx)
	}
}

// hangChat registers the routes for chat completions. A client's base URL may end in /v1 or not.
func hangChat(mux *router, g guard, p *proxy.Proxy) {
	for _, prefix := range []string{"", "/v1"} {
		mux.Handle(prefix+"/chat/completions", g.shut(proxy.Refuse, g.watch(access.DoorChat, p.Serve)))
		mux.Handle(prefix+"/chat/completions/{$}", g.shut(proxy.Refuse, g.watch(access.DoorChat, p.Serve)))
		mux.Handle("GET "+prefix+"/models", g.shut(proxy.Refuse, g.watch(access.DoorChat, p.ServeModels)))
	}
	mux.Handle("/v1/", g.shut(proxy.Refuse, g.watch(access.DoorChat, p.ServeOther)))
}

// idHeader returns the header that carries our request id in the response. At the chat door
// X-Request-Id is the provider's.
func idHeader(path string) string {
	if strings.HasPrefix(path, "/v1/") || path == "/models" || strings.TrimSuffix(path, "/") == "/chat/completions" {
		return "X-Secateur-Request-Id"
	}
	return telemetry.HeaderRequestID
}
