package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkGreeting measures how long a client waits for its first answer, with one working server
// and a child that never responds: for a running program, and for one just started, including its
// start.
func BenchmarkGreeting(b *testing.B) {
	backend := httptest.NewServer(benchServer("{}", oneTool))
	defer backend.Close()
	servers := fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\n[[servers]]\nid = \"deaf\"\ncommand = [\"sleep\", \"600\"]\nshutdown_grace = 0.05\n", backend.URL)
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	modernHeader := http.Header{
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
		"Mcp-Protocol-Version": {modern}, "Mcp-Method": {"server/discover"},
	}
	for name, greet := range map[string]func(b *testing.B, url string){
		"initialize":      func(b *testing.B, url string) { b.Helper(); openSession(b, url) },
		"server_discover": func(b *testing.B, url string) { b.Helper(); post(b, url, discover, modernHeader) },
		"initialize_deaf": func(b *testing.B, url string) { b.Helper(); openSession(b, url+"/deaf") },
	} {
		b.Run("warm/"+name, func(b *testing.B) {
			p := startForBench(b, servers)
			greet(b, p.url+"/mcp") // warms up
			for b.Loop() {
				greet(b, p.url+"/mcp")
			}
		})
		b.Run("cold/"+name, func(b *testing.B) {
			for b.Loop() {
				p := startForBench(b, servers)
				greet(b, p.url+"/mcp")
				b.StopTimer()
				_ = p.stop()
				b.StartTimer()
			}
		})
	}
}
