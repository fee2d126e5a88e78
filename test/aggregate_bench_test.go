package test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/rpc"
)

// benchServer is the least a Streamable HTTP server can do: handshake, one list, and the same answer to every call.
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
		req, bad := rpc.ParseRequest(body, rpc.MaxRequestDepth)
		if bad != nil || req.Kind() != rpc.Request {
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
		_, _ = w.Write(rpc.AppendResult(nil, req.ID, answer))
	})
}

const oneTool = `{"name":"read","inputSchema":{"type":"object"}}`

// BenchmarkAggregate measures one tools/call through /mcp, everything on: session, routing, rewriting, masking. Beside
// it, in the same run: the server itself, a minimal proxy of whole messages, and ReverseProxy.
func BenchmarkAggregate(b *testing.B) {
	for _, size := range []struct{ name, result string }{
		{"small", `{"content":[{"type":"text","text":"ok"}]}`},
		{"100KB", `{"content":[` + strings.Repeat(`{"type":"text","text":"`+strings.Repeat("x", 1000)+`"},`, 99) + `{"type":"text","text":""}]}`},
		{"1MB-one-text", `{"content":[{"type":"text","text":"` + strings.Repeat("a line of text in a large file\\n", 1<<20/32) + `"}]}`},
		{"1MB-structured", `{"content":[],"structuredContent":{"rows":[` + strings.Repeat(`{"id":12345,"name":"a name","note":"some words about it"},`, 1<<20/58) + `{}]}}`},
	} {
		backend := httptest.NewServer(benchServer(size.result, oneTool))
		target, err := url.Parse(backend.URL)
		if err != nil {
			b.Fatal(err)
		}
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/tmp/x"}}}`
		for _, conns := range []int{1, 32} {
			scene := fmt.Sprintf("%s-%dconn", size.name, conns)
			for variant, path := range map[string]string{"ours": "/mcp", "transparent": "/mcp/s"} {
				b.Run(scene+"/"+variant, func(b *testing.B) {
					p := startForBench(b, fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\n", backend.URL))
					loadWith(b, request{p.url + path, call, openSession(b, p.url+path)}, conns, len(size.result))
				})
			}
			b.Run(scene+"/direct", func(b *testing.B) { loadWith(b, request{url: backend.URL, body: call}, conns, len(size.result)) })
			b.Run(scene+"/minimal", func(b *testing.B) {
				proxy := httptest.NewServer(minimalProxy(backend.URL))
				defer proxy.Close()
				loadWith(b, request{url: proxy.URL, body: call}, conns, len(size.result))
			})
			b.Run(scene+"/reverseproxy", func(b *testing.B) {
				reverse := &httputil.ReverseProxy{Transport: newTransport(), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_ = http.NewResponseController(w).EnableFullDuplex() // without it some answers are cut short
					reverse.ServeHTTP(w, r)
				}))
				defer proxy.Close()
				loadWith(b, request{url: proxy.URL, body: call}, conns, len(size.result))
			})
		}
		backend.Close()
	}
}

// BenchmarkAggregateList measures a tools/list of 500 tools: of ten servers through /mcp, and of one that has them all.
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
	b.Run("500-tools/ours", func(b *testing.B) {
		var toml strings.Builder
		for i := range 10 {
			backend := httptest.NewServer(benchServer("{}", tools(i, 50)))
			defer backend.Close()
			fmt.Fprintf(&toml, "[[servers]]\nid = \"s%d\"\nurl = %q\n", i, backend.URL)
		}
		p := startForBench(b, toml.String())
		loadWith(b, request{p.url + "/mcp", list, openSession(b, p.url+"/mcp")}, 1, len(all))
	})
	b.Run("500-tools/direct", func(b *testing.B) {
		backend := httptest.NewServer(benchServer("{}", all))
		defer backend.Close()
		loadWith(b, request{url: backend.URL, body: list}, 1, len(all))
	})
}

// openSession initializes as a legacy client and returns the headers of the requests that follow.
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

// BenchmarkStart measures the program itself: from its start to the first answer of its door, and the memory it holds,
// idle, at the end of ten thousand calls, and a few seconds after them.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "secateur")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/secateur")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	backend := httptest.NewServer(benchServer(`{"content":[{"type":"text","text":"ok"}]}`, oneTool))
	defer backend.Close()
	config := filepath.Join(b.TempDir(), "c.toml")
	toml := fmt.Sprintf("listen = \"127.0.0.1:0\"\nlog_level = \"ERROR\"\n[[servers]]\nid = \"s\"\nurl = %q\n", backend.URL)
	if err := os.WriteFile(config, []byte(toml), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("serve/ours", func(b *testing.B) {
		var idle, busy, rested float64
		for b.Loop() {
			url, pid, stop := launch(b, binary, config)
			b.StopTimer()
			if idle == 0 {
				idle = residentMB(b, pid)
				header := openSession(b, url+"/mcp")
				const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`
				for range 10_000 {
					post(b, url+"/mcp", call, header)
				}
				busy = residentMB(b, pid)
				time.Sleep(5 * time.Second) // what it does not need it gives back
				rested = residentMB(b, pid)
			}
			stop()
			b.StartTimer()
		}
		b.ReportMetric(idle, "MB-idle")
		b.ReportMetric(busy, "MB-under-load")
		b.ReportMetric(rested, "MB-after-load")
	})
}

// launch starts the program and returns when it has answered.
func launch(b *testing.B, binary, config string) (url string, pid int, stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	cmd := exec.CommandContext(ctx, binary, "serve", "--config", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line := make([]byte, 256)
	n, err := out.Read(line)
	_, rest, found := bytes.Cut(line[:n], []byte("http://"))
	if err != nil || !found {
		b.Fatalf("it said %q, %v", line[:n], err)
	}
	address, _, _ := strings.Cut(string(rest), " ")
	url = "http://" + address
	res, err := http.Get(url + "/healthz")
	if err != nil {
		b.Fatal(err)
	}
	_ = res.Body.Close()
	return url, cmd.Process.Pid, func() {
		cancel()
		_ = cmd.Wait()
	}
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

// residentMB is what the kernel counts as a process's memory.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	time.Sleep(100 * time.Millisecond) // what starting left behind
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
