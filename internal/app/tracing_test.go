package app

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"secateur/internal/config"
	"secateur/internal/ops/events"
)

// collected is a small OTLP collector.
type collected struct {
	*httptest.Server

	mu     sync.Mutex
	raw    []byte
	key    string
	spans  []*tracepb.Span
	resent map[string]string // attributes of the resource
}

func newCollected(t *testing.T) *collected {
	t.Helper()
	c := &collected{resent: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s %s: %v", r.Method, r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, body...)
		c.key = r.Header.Get("X-Key")
		for _, resource := range data.GetResourceSpans() {
			for _, a := range resource.GetResource().GetAttributes() {
				c.resent[a.GetKey()] = a.GetValue().GetStringValue()
			}
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(c.Close)
	return c
}

// peers are a plain MCP server and a provider that record the trace headers they get.
type peers struct {
	mu            sync.Mutex
	server        http.Header
	serverMeta    struct{ Traceparent, Tracestate string }
	provider      http.Header
	serverAddress string
	providerBase  string
}

func newPeers(t *testing.T) *peers {
	t.Helper()
	p := &peers{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta struct {
					Traceparent string `json:"traceparent"`
					Tracestate  string `json:"tracestate"`
				} `json:"_meta"`
			} `json:"params"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		if m.Method == "tools/call" {
			p.mu.Lock()
			p.server, p.serverMeta.Traceparent, p.serverMeta.Tracestate = r.Header.Clone(), m.Params.Meta.Traceparent, m.Params.Meta.Tracestate
			p.mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},`+
			`"content":[{"type":"text","text":"canary-result"}],"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, m.ID)
	}))
	t.Cleanup(server.Close)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.mu.Lock()
		p.provider = r.Header.Clone()
		p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":10}}`)
	}))
	t.Cleanup(provider.Close)
	p.serverAddress, p.providerBase = server.URL, provider.URL+"/v1"
	return p
}

// traced runs a program with the peers and the given telemetry settings.
func traced(t *testing.T, p *peers, telemetry string) (*App, http.Handler) {
	t.Helper()
	cfg, mistakes := config.Load("c.toml", []byte(telemetry+"[store]\nurl = \"memory:\"\n[[servers]]\nid = \"plain\"\ntransport = \"rpc\"\nurl = \""+p.serverAddress+
		"\"\n[providers.p]\nbase_url = \""+p.providerBase+"\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return running(t, Options{Config: cfg, Version: "v9", StateDir: t.TempDir()})
}

const (
	clientTrace = "0af7651916cd43dd8448eb211c80319c"
	clientSpan  = "b7ad6b7169203331"
	parent      = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// askAll sends one call through each door, in the client's trace.
func askAll(t *testing.T, h http.Handler) {
	t.Helper()
	for _, r := range []struct{ path, body string }{
		{"/api/mcp-gateway/plain/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"password":"canary-argument"}}}`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"canary-message"}]}`},
	} {
		if w := post(t, h, r.path, r.body, "traceparent", parent, "tracestate", "vendor=1", "Authorization", "Bearer canary-token"); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", r.path, w.Code, w.Body)
		}
	}
}

// One trace connects the client, the server and the provider, without any of their contents.
func TestOneTraceFromClientToServerAndProvider(t *testing.T) {
	c, p := newCollected(t), newPeers(t)
	a, h := traced(t, p, "[telemetry]\notlp_endpoint = \""+c.URL+"\"\notlp_headers = { X-Key = \"${KEY:-k}\" }\n")
	// It waits until the servers have listed their tools.
	post(t, h, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	askAll(t, h)
	post(t, h, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain::echo","arguments":{},`+
		strings.Replace(modernMeta, `"_meta":{`, `"_meta":{"traceparent":"00-`+strings.Repeat("a", 32)+`-`+clientSpan+`-01",`, 1)+`}}`,
		"traceparent", parent, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "plain::echo")
	p.mu.Lock()
	serverParent, providerParent, viaMeta := p.server.Get("traceparent"), p.provider.Get("traceparent"), p.serverMeta.Traceparent
	p.mu.Unlock()
	if err := a.tracing.Close(); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	byID := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		byID[hex.EncodeToString(s.GetSpanId())] = s
	}
	// path names the spans from a header back to the client.
	path := func(header string) (names []string, trace string) {
		parts := strings.Split(header, "-")
		if len(parts) != 4 {
			t.Fatalf("traceparent %q", header)
		}
		id := parts[2]
		for byID[id] != nil {
			names = append(names, byID[id].GetName())
			if got := hex.EncodeToString(byID[id].GetTraceId()); got != parts[1] {
				t.Errorf("span %s is of the trace %s, want %s", byID[id].GetName(), got, parts[1])
			}
			id = hex.EncodeToString(byID[id].GetParentSpanId())
		}
		return append(names, id), parts[1]
	}
	for _, want := range []struct {
		rule, header, trace string
		names               []string
	}{
		{"the provider", providerParent, clientTrace, []string{"POST /chat/completions", "POST /v1/chat/completions", clientSpan}},
		{"the server, where _meta names another trace than the headers", serverParent, strings.Repeat("a", 32), []string{"tools/call plain::echo", clientSpan}},
		{"the server in _meta", viaMeta, strings.Repeat("a", 32), []string{"tools/call plain::echo", clientSpan}},
	} {
		if names, trace := path(want.header); !slices.Equal(names, want.names) || trace != want.trace {
			t.Errorf("%s: spans %q in trace %s, want %q in %s", want.rule, names, trace, want.names, want.trace)
		}
	}
	call := slices.IndexFunc(c.spans, func(s *tracepb.Span) bool {
		return s.GetName() == "tools/call plain::echo" && hex.EncodeToString(s.GetTraceId()) == clientTrace
	})
	if call < 0 || byID[hex.EncodeToString(c.spans[call].GetParentSpanId())].GetName() != "POST /api/mcp-gateway/{server}/rpc" {
		t.Errorf("the gateway's call is not below its HTTP request: %v", c.spans)
	}
	if c.resent["service.name"] != "secateur" || c.resent["service.version"] != "v9" || c.key != "k" {
		t.Errorf("resource %v, header %q", c.resent, c.key)
	}
	for _, canary := range []string{"canary-argument", "canary-result", "canary-message", "canary-token"} {
		if bytes.Contains(c.raw, []byte(canary)) {
			t.Errorf("the traces hold %s", canary)
		}
	}
}

// Without our own tracing the client's trace is passed on unchanged.
func TestATraceIsPassedOnWhereNothingIsTraced(t *testing.T) {
	p := newPeers(t)
	_, h := traced(t, p, "")
	askAll(t, h)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server.Get("traceparent") != parent || p.serverMeta.Traceparent != parent || p.serverMeta.Tracestate != "vendor=1" || p.server.Get("tracestate") != "vendor=1" {
		t.Errorf("the server got %q, in _meta %+v", p.server.Get("traceparent"), p.serverMeta)
	}
	if p.provider.Get("traceparent") != parent || p.provider.Get("tracestate") != "vendor=1" {
		t.Errorf("the provider got %q", p.provider.Get("traceparent"))
	}
}

// The client's flag decides whether a request is traced, otherwise the sample rate does.
func TestTracesAreSampled(t *testing.T) {
	c, p := newCollected(t), newPeers(t)
	a, h := traced(t, p, "[telemetry]\notlp_endpoint = \""+c.URL+"\"\nsample = 0.0\n")
	call := func(header ...string) {
		post(t, h, "/api/mcp-gateway/plain/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, header...)
	}
	call()
	call("traceparent", strings.TrimSuffix(parent, "1")+"0")
	call("traceparent", parent)
	_ = a.tracing.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 2 { // the HTTP request and the call that the client wants traced
		t.Errorf("%d spans, want two", len(c.spans))
	}
}

// An unreachable collector loses only its traces.
func TestACollectorThatIsAwayIsNoMatter(t *testing.T) {
	c, p := newCollected(t), newPeers(t)
	url := c.URL
	c.Close()
	a, h := traced(t, p, "[telemetry]\notlp_endpoint = \""+url+"\"\n")
	askAll(t, h)
	if err := a.tracing.Close(); err != nil {
		t.Error(err)
	}
}

// Messages of a pipe are traced too, each as a separate request.
func TestAPipeIsTraced(t *testing.T) {
	c, p := newCollected(t), newPeers(t)
	cfg, mistakes := config.Load("c.toml", []byte("[telemetry]\notlp_endpoint = \""+c.URL+"\"\n[store]\nurl = \"memory:\"\n[[servers]]\nid = \"plain\"\ntransport = \"rpc\"\nurl = \""+
		p.serverAddress+"\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, Version: "v9", StateDir: t.TempDir(), Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plain::echo","arguments":{},"_meta":{"traceparent":"` + parent + `"}}}` + "\n"
	var out strings.Builder
	if err := a.RunStdio(t.Context(), strings.NewReader(in), &out, ""); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	told := p.serverMeta.Traceparent
	p.mu.Unlock()
	if !strings.HasPrefix(told, "00-"+clientTrace+"-") || told == parent {
		t.Errorf("the server was told %q, want our span in the client's trace; the client got %s", told, out.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]int{}
	for _, s := range c.spans {
		names[s.GetName()]++
	}
	// Its list may come later than the call.
	if names["initialize"] != 1 || names["tools/call plain::echo"]+names["tools/call plain::other"] != 1 {
		t.Errorf("spans %v", names)
	}
	ids := map[string]bool{}
	for _, e := range a.feed.Recent(events.TypeRequest, 10) {
		r, _ := e.Data.(events.Request)
		ids[r.RequestID] = true
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("ids of the two messages: %v", ids)
	}
}
