package test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"secateur/internal/config"
)

// BenchmarkGateway measures one call through the gateway with everything on: guard, strict parse,
// masking, store. In the same run, with the same server, it measures no proxy at all, a minimal
// proxy and the standard library's ReverseProxy. The minimal proxy reads the body, posts it and
// writes the answer.
func BenchmarkGateway(b *testing.B) {
	for _, size := range []struct {
		name   string
		result string
	}{
		{"small", `{"content":[{"type":"text","text":"ok"}]}`},
		{"100KB", `{"content":[` + strings.Repeat(`{"type":"text","text":"`+strings.Repeat("x", 1000)+`"},`, 99) + `{}]}`},
		{"1MB-one-string", `{"content":[{"type":"text","text":"` + strings.Repeat("a line of text in a large file\\n", 1<<20/32) + `"}]}`},
		{"1MB-records", `{"rows":[` + strings.Repeat(`{"id":12345,"name":"a name","note":"some words about it"},`, 1<<20/58) + `{}]}`},
	} {
		answer := []byte(`{"jsonrpc":"2.0","id":1,"result":` + size.result + `}`)
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}))
		toml := fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\ntransport = \"rpc\"\n", backend.URL)
		ours, before := launchForBench(b, toml), launchBefore(b, toml)
		minimal, reverse := launchProxy(b, "minimal", backend.URL+"/rpc"), launchProxy(b, "reverseproxy", backend.URL)
		for _, conns := range []int{1, 32} {
			const door = "/api/mcp-gateway/s/rpc"
			ways := []way{
				{"ours", request{url: ours.url + door, body: oneCall}, ours},
				{"direct", request{url: backend.URL + "/rpc", body: oneCall}, nil},
				{"minimal", request{url: minimal.url, body: oneCall}, minimal},
				{"reverseproxy", request{url: reverse.url, body: oneCall}, reverse},
			}
			if before != nil {
				ways = append(ways, way{"before", request{url: before.url + door, body: oneCall}, before})
			}
			byTurns(b, fmt.Sprintf("%s-%dconn", size.name, conns), conns, len(answer), ways)
		}
		stopAll(ours, before, minimal, reverse)
		backend.Close()
	}
}

// startForBench is start without logs.
func startForBench(b *testing.B, toml string) *program {
	b.Helper()
	cfg, mistakes := config.Load("bench.toml", []byte("listen = \"127.0.0.1:0\"\nlog_level = \"ERROR\"\n"+toml), config.Options{Lookup: os.LookupEnv})
	for _, m := range mistakes {
		b.Fatal(m)
	}
	return startConfig(b, cfg)
}
