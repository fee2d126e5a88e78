package llmproxy_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"secateur/internal/llmproxy"
	"secateur/internal/originals"
	"secateur/internal/records"
)

// doors are the proxy and, to compare, the standard library's.
func doors(b *testing.B, provider http.Handler) map[string]http.Handler {
	b.Helper()
	srv := httptest.NewServer(provider)
	b.Cleanup(srv.Close)
	target, _ := url.Parse(srv.URL)
	reverse := httputil.NewSingleHostReverseProxy(target)
	reverse.FlushInterval = -1
	reverse.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	return map[string]http.Handler{
		"priced":  door(b, srv.URL, "priced"),
		"sliding": door(b, srv.URL, "sliding"),
		"reverse": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			reverse.ServeHTTP(w, r)
		}),
	}
}

func door(b *testing.B, provider, strategy string) http.Handler {
	b.Helper()
	p, err := llmproxy.New(llmproxy.Options{
		Providers: map[string]llmproxy.Provider{"main": {BaseURL: provider}},
		Masking:   masking(strategy), Originals: &originals.Memory{}, OriginalsTTL: time.Hour, Records: &records.Memory{},
		MaxBodyBytes: 64 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.Serve(w, r, "x") })
}

func post(b *testing.B, client *http.Client, url string, body []byte) {
	b.Helper()
	res, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(res.Status, err)
	}
}

func BenchmarkRequest400KB(b *testing.B) {
	k := newTalk()
	for i := range 99 {
		k.turn("read_file", `{"path":"x"}`, result(i, 58))
	}
	body := []byte(k.request("m"))
	handlers := doors(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, smallAnswer)
	}))
	for _, name := range []string{"reverse", "priced", "sliding"} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(handlers[name])
			defer srv.Close()
			client := srv.Client()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				post(b, client, srv.URL, body)
			}
		})
	}
}

func BenchmarkStream200Chunks(b *testing.B) {
	chunk := fmt.Sprintf("data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat("word ", 20))
	handlers := doors(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 200 {
			_, _ = io.WriteString(w, chunk)
			w.(http.Flusher).Flush()
		}
	}))
	for _, name := range []string{"reverse", "priced", "sliding"} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(handlers[name])
			defer srv.Close()
			client := srv.Client()
			b.SetBytes(int64(200 * len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				post(b, client, srv.URL, []byte(streamRequest))
			}
		})
	}
}
