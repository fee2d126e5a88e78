package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"secateur/internal/config"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/test/provider"
)

// prices are a model whose prices the program knows by name, and its provider's real prices.
type prices struct {
	model string
	terms provider.Terms
}

// The terms are not read from the program's table, so that a mistake in it shows.
var allPrices = []prices{
	{"claude-sonnet-4-5", provider.Terms{Block: 128, Minimum: 1024, Life: 5 * time.Minute, Input: 1, Read: 0.1, Write: 1.25}},
	{"claude-sonnet-5-5", provider.Terms{Block: 128, Minimum: 512, Life: 5 * time.Minute, Input: 1, Read: 0.05, Write: 1.25}},
	{"deepseek-v4", provider.Terms{Block: 64, Minimum: 1024, Life: 6 * time.Hour, Input: 1, Read: 0.02, Write: 1}},
}

// outcome is the result of a run.
type outcome struct {
	id       string
	requests int
	end      provider.Bill
	told     float64 // the ratio in the program's last answer
	worst    float64 // the highest true ratio at any moment
	worstAt  int     // the request of that moment
	off      float64 // the largest error of a reported ratio
	names    names
}

// play sends a run through the program with its default configuration.
func play(ctx context.Context, s *session, p prices, split provider.Tokenizer, most int) (o outcome, err error) {
	dir, err := os.MkdirTemp("", "evalbill")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	now := start
	ruler := &provider.Ruler{Terms: p.terms, Split: split, Now: func() time.Time { return now }}
	proxy, done, err := door(dir, ruler, ruler.Now, true) //nolint:contextcheck // building the door is no request
	if err != nil {
		return o, err
	}
	defer done()
	o = outcome{id: s.ID, told: 1}
	err = s.requests(p.model, most, func(q request) error {
		now = start.Add(q.at)
		ruler.Through(s.ID, q.body)
		told, err := post(ctx, proxy, s.ID, q.body)
		if err != nil {
			return err
		}
		o.end, o.told = ruler.Bill(s.ID), told
		truth := o.end.Ratio()
		if truth > o.worst {
			o.worst, o.worstAt = truth, o.requests
		}
		o.off = max(o.off, math.Abs(told-truth))
		o.requests++
		o.names.look(q.body, ruler.Last(s.ID), q.answer)
		return ctx.Err()
	})
	if err != nil {
		return o, fmt.Errorf("%s at %s: %w", s.ID, p.model, err)
	}
	return o, nil
}

// playPruned sends a run through the program without masking. It returns the last request as the
// client sent it and as the program did.
func playPruned(ctx context.Context, s *session, p prices, ruler *provider.Ruler, most int) (whole, pruned []byte, err error) {
	dir, err := os.MkdirTemp("", "evalbill")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	proxy, done, err := door(dir, ruler, ruler.Now, false) //nolint:contextcheck // building the door is no request
	if err != nil {
		return nil, nil, err
	}
	defer done()
	err = s.requests(p.model, most, func(q request) error {
		whole = q.body
		_, err := post(ctx, proxy, s.ID, q.body)
		return errors.Join(err, ctx.Err())
	})
	return whole, ruler.Last(s.ID), err
}

// repeats and arguments are context_pruning's of the program.
var (
	repeats   bool
	arguments string
)

// start is when every run begins.
var start = time.Unix(1_800_000_000, 0)

// door is the program's chat completions door as configured by init, with a store on disk and the
// provider behind it.
func door(dir string, to http.RoundTripper, now func() time.Time, masking bool) (p *proxy.Proxy, done func(), err error) {
	cfg, mistakes := config.Load("secateur.toml", config.Init(config.PresetDefault), config.Options{})
	if len(mistakes) > 0 {
		return nil, nil, fmt.Errorf("%v", mistakes[0])
	}
	cfg.ObservationMasking.Schema1.Enabled = cfg.ObservationMasking.Schema1.Enabled && masking
	cfg.ContextPruning.Repeats, cfg.ContextPruning.Arguments = repeats, arguments
	store, err := originals.OpenFile(originals.FileOptions{Dir: filepath.Join(dir, "originals")})
	if err != nil {
		return nil, nil, err
	}
	kept, err := records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records")})
	if err != nil {
		_ = store.Close()
		return nil, nil, err
	}
	p, err = proxy.New(proxy.Options{
		// With the prices that the program knows.
		Providers: map[string]proxy.Provider{"p": {BaseURL: "http://provider.invalid/v1"}},
		Masking:   cfg.ObservationMasking.Schema1, Pruning: cfg.ContextPruning, Originals: store, OriginalsTTL: cfg.Store.TTL, Records: kept,
		MaxBodyBytes: cfg.MaxBodyBytes, Now: now, Log: slog.New(slog.DiscardHandler), Transport: to,
	})
	if err != nil {
		_ = store.Close()
		return nil, nil, err
	}
	return p, func() { _ = store.Close() }, nil
}

// post sends a request and returns the ratio in the answer.
func post(ctx context.Context, p *proxy.Proxy, name string, body []byte) (told float64, err error) {
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	req.Header.Set(provider.Header, name)
	p.Serve(rec, req, nil)
	if rec.Code != http.StatusOK {
		return 0, fmt.Errorf("answered with %d: %.200s", rec.Code, rec.Body.String())
	}
	return strconv.ParseFloat(rec.Result().Header.Get("X-Secateur-Bill-Ratio"), 64)
}
