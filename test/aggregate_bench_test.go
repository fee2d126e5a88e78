package test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/mcp/wire"
)

// benchServer is a minimal Streamable HTTP server: handshake, one list, and the same answer to
// every call.
func benchServer(result string, tools string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		req, bad := wire.ParseRequest(body, wire.MaxRequestDepth)
		if bad != nil || req.Kind() != wire.Request {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := []byte("{}")
		switch req.Method {
		case "initialize":
			answer = []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
		case "tools/list":
			answer = []byte(`{"tools":[` + tools + `]}`)
		case "tools/call":
			answer = []byte(result)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(wire.AppendResult(nil, req.ID, answer))
	})
}

const oneTool = `{"name":"read","inputSchema":{"type":"object"}}`

// BenchmarkAggregate measures one tools/call through /mcp with everything on: session, routing,
// rewriting, masking. In the same run it measures the server itself, a minimal proxy of whole
// messages, and ReverseProxy.
func BenchmarkAggregate(b *testing.B) {
	for _, size := range []struct{ name, result string }{
		{"small", `{"content":[{"type":"text","text":"ok"}]}`},
		{"100KB", `{"content":[` + strings.Repeat(`{"type":"text","text":"`+strings.Repeat("x", 1000)+`"},`, 99) + `{"type":"text","text":""}]}`},
		{"1MB-one-text", `{"content":[{"type":"text","text":"` + strings.Repeat("a line of text in a large file\\n", 1<<20/32) + `"}]}`},
		{"1MB-structured", `{"content":[],"structuredContent":{"rows":[` + strings.Repeat(`{"id":12345,"name":"a name","note":"some words about it"},`, 1<<20/58) + `{}]}}`},
	} {
		backend := httptest.NewServer(benchServer(size.result, oneTool))
		toml := fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\n", backend.URL)
		ours, before := launchForBench(b, toml), launchBefore(b, toml)
		minimal, reverse := launchProxy(b, "minimal", backend.URL), launchProxy(b, "reverseproxy", backend.URL)
		for _, conns := range []int{1, 32} {
			ways := []way{
				{"ours", request{ours.url + "/mcp", oneCall, openSession(b, ours.url+"/mcp")}, ours},
				{"transparent", request{ours.url + "/mcp/s", oneCall, openSession(b, ours.url+"/mcp/s")}, ours},
				{"direct", request{url: backend.URL, body: oneCall}, nil},
				{"minimal", request{url: minimal.url, body: oneCall}, minimal},
				{"reverseproxy", request{url: reverse.url, body: oneCall}, reverse},
			}
			if before != nil {
				ways = append(ways, way{"before", request{before.url + "/mcp", oneCall, openSession(b, before.url+"/mcp")}, before})
			}
			byTurns(b, fmt.Sprintf("%s-%dconn", size.name, conns), conns, len(size.result), ways)
		}
		stopAll(ours, before, minimal, reverse)
		backend.Close()
	}
}

// BenchmarkAggregateList measures a tools/list of 500 tools: of ten servers through /mcp, and of
// one that has them all.
func BenchmarkAggregateList(b *testing.B) {
	tools := func(server, n int) string {
		var s []string
		for i := range n {
			s = append(s, fmt.Sprintf(`{"name":"tool_%d_%d","description":"Reads things and says what they are, in some detail, for tool number %d.",`+
				`"inputSchema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}`, server, i, i))
		}
		return strings.Join(s, ",")
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	all := tools(0, 500)
	var toml strings.Builder
	for i := range 10 {
		backend := httptest.NewServer(benchServer("{}", tools(i, 50)))
		defer backend.Close()
		fmt.Fprintf(&toml, "[[servers]]\nid = \"s%d\"\nurl = %q\n", i, backend.URL)
	}
	backend := httptest.NewServer(benchServer("{}", all))
	defer backend.Close()
	ours := launchForBench(b, toml.String())
	defer ours.stop()
	byTurns(b, "500-tools", 1, len(all), []way{
		{"ours", request{ours.url + "/mcp", list, openSession(b, ours.url+"/mcp")}, ours},
		{"direct", request{url: backend.URL, body: list}, nil},
	})
}

// openSession initializes as a legacy client and returns the headers of the following requests.
func openSession(tb testing.TB, url string) http.Header {
	tb.Helper()
	h := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	post := func(body string) *http.Response {
		req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			tb.Fatal(err)
		}
		req.Header = h.Clone()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			tb.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode >= 300 {
			tb.Fatalf("%s: status %d", body, res.StatusCode)
		}
		return res
	}
	res := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	h.Set("Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
	h.Set("Mcp-Protocol-Version", "2025-11-25")
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return h
}

// BenchmarkStart measures the program itself: from its start to its first answer, and its memory
// when idle, after ten thousand calls, and a few seconds later.
func BenchmarkStart(b *testing.B) {
	backend := httptest.NewServer(benchServer(`{"content":[{"type":"text","text":"ok"}]}`, oneTool))
	defer backend.Close()
	binary, config := buildForBench(b), configForBench(b, fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\n", backend.URL))
	b.Run("serve/ours", func(b *testing.B) {
		var idle, busy, rested float64
		for b.Loop() {
			p := launchProgram(b, binary, config)
			b.StopTimer()
			if idle == 0 {
				idle = residentMB(b, p.pid)
				header := openSession(b, p.url+"/mcp")
				const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`
				for range 10_000 {
					post(b, p.url+"/mcp", call, header)
				}
				busy = residentMB(b, p.pid)
				time.Sleep(5 * time.Second) // it returns unused memory
				rested = residentMB(b, p.pid)
			}
			p.stop()
			b.StartTimer()
		}
		b.ReportMetric(idle, "MB-idle")
		b.ReportMetric(busy, "MB-under-load")
		b.ReportMetric(rested, "MB-after-load")
	})
}

func post(b *testing.B, url, body string, header http.Header) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}

// residentMB is a process's memory as the kernel counts it.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	time.Sleep(100 * time.Millisecond) // lets the start settle
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		lack(b, err.Error())
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb / 1024
}
