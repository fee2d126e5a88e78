package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
)

// reverse is the standard library's proxy, for comparison.
func reverse(provider string) http.Handler {
	target, _ := url.Parse(provider)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	})
}

// ourDoor is a proxy without a listener.
type ourDoor struct{ *proxy.Proxy }

func (d ourDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.Serve(w, r, &access.Principal{Subject: "x"})
}

// newDoor returns our proxy with this transport; nil: its own. Without a strategy nothing is
// masked.
func newDoor(provider, strategy string, transport http.RoundTripper, kept proxy.Records) (http.Handler, error) {
	s, pruning := masking(strategy), chat.DefaultPruning()
	s.Enabled, pruning.Enabled = strategy != "", strategy == "priced"
	p, err := proxy.New(proxy.Options{
		Providers: map[string]proxy.Provider{"main": {BaseURL: provider}, "anthropic": {BaseURL: provider}, "openai": {BaseURL: provider}},
		Masking:   s, Pruning: pruning, DefaultProvider: "main", Originals: &originals.Memory{}, OriginalsTTL: time.Hour, Records: kept,
		MaxBodyBytes: 64 << 20, Log: slog.New(slog.DiscardHandler), Transport: transport,
	})
	if err != nil {
		return nil, err
	}
	return ourDoor{p}, nil
}

func post(b *testing.B, to *process, path string, body []byte) time.Duration {
	b.Helper()
	began := time.Now()
	res, err := to.client.Post(to.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(res.Status, err)
	}
	return time.Since(began)
}

// compare sends the bodies in a loop, alternating between our proxy and the standard library's, so
// that other load slows both. Each request starts after all work of the previous one is done. It
// reports our time to the end of the response and the ratio of the medians. It also reports the
// ratio of the processor time, including background work.
func compare(b *testing.B, path, does string, provider http.Handler, body func(i int) []byte) {
	b.Helper()
	srv := httptest.NewServer(provider)
	defer srv.Close()
	doors := [2]*process{launch(b, srv.URL, standard), launch(b, srv.URL, does)}
	var times [2][]time.Duration
	var cpu [2]time.Duration
	for i := 0; b.Loop(); i++ {
		doc := body(i)
		for k, door := range doors {
			before := door.idle(b)
			times[k] = append(times[k], post(b, door, path, doc))
			cpu[k] += door.idle(b) - before
		}
	}
	var median [2]float64
	for i, t := range times {
		slices.Sort(t)
		median[i] = float64(t[len(t)/2])
	}
	b.ReportMetric(median[1], "ns/op")
	b.ReportMetric(median[1]/median[0], "÷reverse")
	if cpu[0] > 0 {
		b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "÷reverse-cpu")
	}
}

// bodies are requests of an agent in the format of a path: 200 messages and 400 KB in the last.
func bodies(path, kind string) func(i int) []byte {
	text := func(i int) string { return result(i, 58) }
	k := newTalk()
	var last [][]byte
	for i := range 99 {
		k.turn("read_file", `{"path":"x"}`, text(i))
		if i < 89 {
			continue
		}
		switch path {
		case "/v1/messages":
			last = append(last, []byte(claudeTalk(i+1, true, text)))
		case "/v1/responses":
			last = append(last, []byte(codexTalk(i+1, text)))
		default:
			last = append(last, []byte(k.request("m")))
		}
	}
	body := last[len(last)-1]
	switch kind {
	case "next":
		return func(i int) []byte { return last[i%len(last)] }
	case "new":
		at := bytes.Index(body, []byte("fix it"))
		if at < 0 {
			at = bytes.Index(body, []byte("find compute"))
		}
		return func(i int) []byte {
			copy(body[at:], fmt.Sprintf("%06d", i))
			return body
		}
	}
	return func(int) []byte { return body }
}

// BenchmarkRequest400KB sends the same request again, the conversation's next request, or a new one
// with known tool results.
func BenchmarkRequest400KB(b *testing.B) {
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, smallAnswer)
	})
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"} {
		for _, does := range []string{"priced", "sliding", off} {
			for _, kind := range []string{"again", "next", "new"} {
				name := strings.TrimSuffix(path[len("/v1/"):], "/completions") + "/" + does + "/" + kind
				b.Run(name, func(b *testing.B) { compare(b, path, does, provider, bodies(path, kind)) })
			}
		}
	}
}

func BenchmarkStream200Chunks(b *testing.B) {
	chunk := fmt.Sprintf("data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat("word ", 20))
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 200 {
			_, _ = io.WriteString(w, chunk)
			w.(http.Flusher).Flush()
		}
	})
	for _, strategy := range []string{"priced", "sliding"} {
		b.Run(strategy, func(b *testing.B) {
			compare(b, "/v1/chat/completions", strategy, provider, func(int) []byte { return []byte(streamRequest) })
		})
	}
}
