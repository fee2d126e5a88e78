package downstream_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	n      int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }
func (s *sink) Flush()                      {}

func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }

func BenchmarkPost(b *testing.B) {
	small := `{"content":[{"type":"text","text":"hello"}]}`
	large := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`
	for _, size := range []struct{ name, result string }{{"small", small}, {"1MB", large}} {
		whole := wire.AppendResult(nil, wire.NumberID(1), []byte(size.result))
		opt := options(nil)
		opt.MaxMessageBytes = 1 << 25
		opt.Server = func(string, string) (downstream.Server, error) { return fixed{whole}, nil }
		h := downstream.NewHTTP(opt)
		session := record(h, initialize("2025-11-25"), "").Header().Get("Mcp-Session-Id")
		bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
			_, _ = w.Write(whole)
		})
		for _, c := range []struct {
			name    string
			handler http.Handler
			header  http.Header
		}{
			{"bare", bare, http.Header{}},
			{"modern-json", h, http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Accept": {"application/json"}}},
			{"modern-stream", h, http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Accept": {"application/json, text/event-stream"}}},
			{"legacy-json", h, http.Header{"Mcp-Session-Id": {session}, "Accept": {"application/json"}}},
			{"legacy-stream", h, http.Header{"Mcp-Session-Id": {session}, "Accept": {"application/json, text/event-stream"}}},
		} {
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(whole)))
				body := strings.NewReader(message)
				r := httptest.NewRequest(http.MethodPost, "/mcp", io.NopCloser(body))
				r.ContentLength = int64(len(message))
				r.Header = c.header
				w := &sink{header: http.Header{}}
				for b.Loop() {
					body.Reset(message)
					clear(w.header)
					c.handler.ServeHTTP(w, r)
				}
			})
			b.Run(size.name+"/"+c.name+"/socket", func(b *testing.B) { benchSocket(b, c.handler, c.header, message, len(whole)) })
		}
		_ = h.Close(b.Context())
	}
}

func benchSocket(b *testing.B, h http.Handler, header http.Header, message string, size int) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(size))
	srv := httptest.NewServer(h)
	defer srv.Close()
	buf := make([]byte, 64<<10)
	for b.Loop() {
		r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL, strings.NewReader(message))
		r.Header = header
		resp, err := srv.Client().Do(r)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(buf)
		}
		_ = resp.Body.Close()
	}
}

// fixed is a server that always gives the same answer.
type fixed struct{ body []byte }

func (s fixed) Open(downstream.Opening) downstream.Session { return s }
func (s fixed) Stateless() downstream.Session              { return s }
func (s fixed) Handle(_ context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	if req.Method == "initialize" {
		return result(req, `{"protocolVersion":"2025-11-25"}`)
	}
	return downstream.Answer{Body: s.body, Stream: true}
}
func (fixed) Notify(context.Context, *wire.Message, downstream.Exchange) {}
func (fixed) Respond(context.Context, *wire.Message)                     {}
func (fixed) Close()                                                     {}
