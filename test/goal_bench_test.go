package test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"secateur/internal/mcp/wire"
)

// BenchmarkAggregateGoal measures one tools/call through /mcp whose result is a JSON text that is pruned for its goal. Each result is
// another one: the same text again would pass whole. Beside it, in the same run: the server itself and a minimal proxy of whole messages.
// 1 MB is to take at most three times the proxy's time, 100 KB twice.
func BenchmarkAggregateGoal(b *testing.B) {
	for _, size := range []struct {
		name string
		rows int
	}{{"100KB-json", 100 << 10 / 70}, {"1MB-json", 1 << 20 / 70}} {
		rows := make([]string, size.rows)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{\"id\":%d,\"name\":\"record %d\",\"note\":\"some words about it\"}`, i, i*7919)
		}
		text := strings.Join(rows, ",")
		backend := httptest.NewServer(changingServer(text))
		ours := launchForBench(b, fmt.Sprintf("store.max_bytes = 4000000000\nstore.when_full = \"oldest\"\n[[servers]]\nid = \"s\"\nurl = %q\n", backend.URL))
		minimal := launchProxy(b, "minimal", backend.URL)
		byTurns(b, size.name+"-1conn", 1, len(text), []way{
			{"ours", request{ours.url + "/mcp", oneCall, openSession(b, ours.url+"/mcp")}, ours},
			{"direct", request{url: backend.URL, body: oneCall}, nil},
			{"minimal", request{url: minimal.url, body: oneCall}, minimal},
		})
		stopAll(ours, minimal)
		backend.Close()
	}
}

// changingServer answers each call with the rows of a table and the number of the call.
func changingServer(rows string) http.Handler {
	var calls atomic.Int64
	plain := benchServer("{}", oneTool)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		req, bad := wire.ParseRequest(body, wire.MaxRequestDepth)
		if bad != nil || req.Method != "tools/call" {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			plain.ServeHTTP(w, r)
			return
		}
		result := fmt.Sprintf(`{"content":[{"type":"text","text":"{\"call\":%d,\"rows\":[%s]}"}]}`, calls.Add(1), rows)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(wire.AppendResult(nil, req.ID, []byte(result)))
	})
}
