package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"secateur/internal/config"
)

// hotPath runs a program with the pruner and the demo server, and returns its doors.
func hotPath(tb testing.TB, keys string) http.Handler {
	tb.Helper()
	cfg, problems := config.Load("hot.toml", []byte(keys+"\n[store]\nurl = \"memory:\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"), config.Options{})
	if cfg == nil || len(problems) > 0 {
		tb.Fatal(problems)
	}
	_, doors := running(tb, Options{Config: cfg, Version: "test"})
	return doors
}

// running builds the program, starts its servers, and returns its doors.
func running(tb testing.TB, opt Options) (*App, http.Handler) {
	tb.Helper()
	opt.Config.FirstListWait = time.Minute // for a busy machine
	a, err := New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	doors, err := a.live.Load().routes(&generation{})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- a.servers.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		<-ended
		_ = a.close()
	})
	return a, doors
}

// post sends one message to a door.
func post(tb testing.TB, h http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8000"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const hotCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"health","arguments":{}}}`

// BenchmarkHotPath measures a small call through a door, without a network.
func BenchmarkHotPath(b *testing.B) {
	for _, c := range []struct{ name, path, body string }{
		{"gateway", "/api/mcp-gateway/pruner/rpc", hotCall},
		{"mcp", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pruner::health","arguments":{},` + modernMeta + `}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := hotPath(b, "")
			header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "pruner::health"}
			if w := post(b, h, c.path, c.body, header...); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"error"`) {
				b.Fatal(w.Code, w.Body)
			}
			b.ReportAllocs()
			for b.Loop() {
				post(b, h, c.path, c.body, header...)
			}
		})
	}
}
