package app

import (
	"path/filepath"

	"secateur/internal/llmproxy"
	"secateur/internal/records"
)

// newChat makes the door for chat completions. What it has sent before is remembered where originals are kept.
func (a *App) newChat() (*llmproxy.Proxy, error) {
	kept, err := a.openRecords()
	if err != nil {
		return nil, err
	}
	proxy, err := llmproxy.New(llmproxy.Options{
		Providers:       a.cfg.Providers,
		Models:          a.cfg.Models,
		DefaultProvider: a.cfg.DefaultProvider,
		Masking:         a.cfg.ObservationMasking.Schema1,
		Pruning:         a.cfg.ContextPruning,
		Originals:       a.store,
		OriginalsTTL:    a.cfg.Store.TTL(),
		Records:         kept,
		OwnToken:        a.cfg.AuthToken,
		Admission:       a.admission,
		MaxBodyBytes:    a.cfg.MaxBodyBytes,
		Log:             a.log,
		Metrics:         a.registry,
	})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, proxy)
	return proxy, nil
}

func (a *App) openRecords() (llmproxy.Records, error) {
	dir, onDisk := a.storeOptions().Dir()
	if !onDisk {
		return &records.Memory{TTL: a.cfg.Store.TTL()}, nil
	}
	return records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records"), TTL: a.cfg.Store.TTL(), Log: a.log})
}

// hangChat hangs the routes of chat completions; a client's base URL may end in /v1 or not.
func hangChat(mux *router, g guard, p *llmproxy.Proxy) {
	for _, prefix := range []string{"", "/v1"} {
		mux.Handle(prefix+"/chat/completions", g.shut(llmproxy.Refuse, p.Serve))
		mux.Handle(prefix+"/chat/completions/{$}", g.shut(llmproxy.Refuse, p.Serve))
		mux.Handle("GET "+prefix+"/models", g.shut(llmproxy.Refuse, p.ServeModels))
	}
	mux.Handle("/v1/", g.shut(llmproxy.Refuse, p.ServeOther))
}
