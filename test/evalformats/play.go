package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"secateur/internal/config"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/test/llm"
	"secateur/test/provider"
)

// outcome is the result of a run.
type outcome struct {
	requests int
	ratio    float64
	pruned   int // changed results in the last request
}

// books are a provider that bills what it gets, and what the client sent as if it had been passed
// through.
type books interface {
	http.RoundTripper
	through(body []byte)
	ratio() float64
}

// ruled is the provider of chat completions.
type ruled struct{ *provider.Ruler }

func (r ruled) through(body []byte) { r.Through("run", body) }
func (r ruled) ratio() float64      { return r.Bill("run").Ratio() }

// spoken is the provider of the other formats.
type spoken struct {
	*llm.Provider
	path string
}

func (s spoken) through(body []byte) { s.Through(s.path, header(), body) }
func (s spoken) ratio() float64      { return s.Bill("run").Ratio() }

func header() http.Header {
	return http.Header{provider.Header: {"run"}, "X-Api-Key": {"k"}, "Authorization": {"Bearer k"}, "Anthropic-Version": {"2023-06-01"}}
}

// repeats and arguments are context_pruning's of the program.
var (
	repeats   bool
	arguments string
)

// start is when every run begins, and pause the time between two requests.
var start = time.Unix(1_800_000_000, 0)

const pause = 7 * time.Second

// play sends a run through the program.
func play(ctx context.Context, s *session, l lane, most int) (o outcome, err error) {
	now := start
	clock := func() time.Time { return now }
	model, _ := llm.ModelNamed(l.model)
	var to books = spoken{&llm.Provider{Now: clock, Say: func(llm.Turn) llm.Reply { return llm.Reply{Text: "ok"} }}, l.path()}
	if l.format == chat {
		to = ruled{&provider.Ruler{Now: clock, Terms: provider.Terms{Block: 128, Minimum: 1024, Life: model.Life, Input: 1, Read: model.Read, Write: model.Write}}}
	}
	last := &lastBody{RoundTripper: to}
	door, done, err := open(l, last, clock) //nolint:contextcheck // building the door is no request
	if err != nil {
		return o, err
	}
	defer done()
	list := make([]message, len(s.Messages))
	for i, raw := range s.Messages {
		if err := json.Unmarshal(raw, &list[i]); err != nil {
			return o, err
		}
	}
	for i := range list {
		if list[i].Role != "assistant" || o.requests == most {
			continue
		}
		body, err := l.body(list[:i])
		if err != nil {
			return o, err
		}
		now = now.Add(pause)
		to.through(body)
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, l.path(), bytes.NewReader(body))
		req.Header = header()
		rec := httptest.NewRecorder()
		if l.format == chat {
			req.Header.Del("X-Api-Key")
			door.Serve(rec, req, nil)
		} else {
			door.ServeOther(rec, req, nil)
		}
		if rec.Code != http.StatusOK {
			return o, fmt.Errorf("request %d: %d: %.300s", o.requests, rec.Code, rec.Body)
		}
		o.requests++
		o.pruned = bytes.Count(last.body, []byte("prune_id=prn_"))
		if err := ctx.Err(); err != nil {
			return o, err
		}
	}
	o.ratio = to.ratio()
	return o, nil
}

// lastBody remembers the last request that reached the provider.
type lastBody struct {
	http.RoundTripper
	body []byte
}

func (l *lastBody) RoundTrip(r *http.Request) (*http.Response, error) {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	l.body = b.Bytes()
	r.Body = http.NoBody
	copied := r.Clone(r.Context())
	copied.Body = readCloser{bytes.NewReader(l.body)}
	return l.RoundTripper.RoundTrip(copied)
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// open is the program's door with pruning and without masking, so that the sent requests depend on
// no cache.
func open(l lane, to http.RoundTripper, now func() time.Time) (p *proxy.Proxy, done func(), err error) {
	dir, err := os.MkdirTemp("", "evalformats")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	cfg, mistakes := config.Load("secateur.toml", config.Init(config.PresetDefault), config.Options{})
	if len(mistakes) > 0 {
		return nil, done, fmt.Errorf("%v", mistakes[0])
	}
	store, err := originals.OpenFile(originals.FileOptions{Dir: filepath.Join(dir, "originals")})
	if err != nil {
		return nil, done, err
	}
	kept, err := records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records")})
	if err != nil {
		return nil, done, err
	}
	cfg.ContextPruning.Repeats, cfg.ContextPruning.Arguments = repeats, arguments
	masking := cfg.ObservationMasking.Schema1
	masking.Enabled = false
	p, err = proxy.New(proxy.Options{
		Providers: map[string]proxy.Provider{"p": {BaseURL: "http://provider.invalid/v1", Format: l.format}},
		Masking:   masking, Pruning: cfg.ContextPruning, Originals: store, OriginalsTTL: cfg.Store.TTL, Records: kept,
		MaxBodyBytes: cfg.MaxBodyBytes, Now: now, Log: slog.New(slog.DiscardHandler), Transport: to,
	})
	return p, func() { _ = store.Close(); _ = os.RemoveAll(dir) }, err
}
