package app

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/config"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/ledger"
)

// hung is a route as the source registers it.
type hung struct {
	method, path string
	guard        string // the guard's method
}

// computed maps pattern expressions in the source to their values.
var computed = map[string][]string{
	`prefix + "/chat/completions"`:     {"/chat/completions", "/v1/chat/completions"},
	`prefix + "/chat/completions/{$}"`: {"/chat/completions/", "/v1/chat/completions/"},
	`"GET " + prefix + "/models"`:      {"GET /models", "GET /v1/models"},
	`path`:                             {"/mcp", "/mcp/", "/mcp/{server}", "/mcp/{server}/"},
	`"GET " + auth.MetadataPath`:       {"GET /.well-known/oauth-protected-resource"},
	`"GET " + auth.MetadataPath + "/"`: {"GET /.well-known/oauth-protected-resource/"},
	`hook.Path`:                        {"/hooks/claude-code"},
	`compress.Path`:                    {"/v1/compress"},
	`compress.RetrievePath + "{hash}"`: {"GET /v1/retrieve/{hash}"},
	`o.Pattern()`:                      controlPatterns(),
	`admin.Base + "/"`:                 {"GET /api/v1/nothing"},
}

func controlPatterns() (all []string) {
	api, err := (&App{feed: events.New(), ledger: &ledger.Ledger{}}).newControl(nil)
	if err != nil {
		panic(err)
	}
	for _, o := range api.Operations() {
		all = append(all, o.Pattern())
	}
	return all
}

// strangersMay lists the routes that are open to unknown callers.
var strangersMay = []string{
	"/healthz", "/readyz", "/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/",
	"/ui/", "/ui/session", "/ui/csp-report",
}

// hungRoutes reads the routes from this package's source. It finds a door without a guard, however
// it is reached.
func hungRoutes(t *testing.T) (all []hung) {
	t.Helper()
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, 0) //nolint:staticcheck // no types are needed
	if err != nil {
		t.Fatal(err)
	}
	source := func(n ast.Node) string {
		var b bytes.Buffer
		_ = printer.Fprint(&b, files, n)
		return b.String()
	}
	ast.Inspect(packages["app"], func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		to, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || source(to.X) != "mux" || !strings.HasPrefix(to.Sel.Name, "Handle") {
			return true
		}
		at := files.Position(call.Pos())
		by, ok := call.Args[1].(*ast.CallExpr)
		guarded, _ := func() (*ast.SelectorExpr, bool) {
			if !ok {
				return nil, false
			}
			s, ok := by.Fun.(*ast.SelectorExpr)
			return s, ok
		}()
		if to.Sel.Name != "Handle" || guarded == nil || source(guarded.X) != "g" {
			t.Errorf("%s: %s hangs a door without its guard", at, source(call.Args[0]))
			return true
		}
		patterns, known := computed[source(call.Args[0])]
		if literal, ok := call.Args[0].(*ast.BasicLit); ok {
			text, _ := strconv.Unquote(literal.Value)
			patterns, known = []string{text}, true
		}
		if !known {
			t.Errorf("%s: what comes of %s is not known here: add it to computed", at, source(call.Args[0]))
		}
		for _, p := range patterns {
			method, path, ok := strings.Cut(p, " ")
			if !ok {
				method, path = http.MethodPost, p
			}
			all = append(all, hung{method, strings.NewReplacer("{server}", "demo", "{hash}", "0123456789abcdef01234567", "{$}", "").Replace(path), guarded.Sel.Name})
		}
		return true
	})
	if len(all) < 20 {
		t.Fatalf("only %d routes found", len(all))
	}
	return all
}

const tokenOfTest = "a-token-of-more-than-16-characters"

func serve(h http.Handler, r hung, body io.Reader, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(r.method, "http://127.0.0.1:8000"+r.path, body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if strings.HasPrefix(r.path, "/mcp") {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "tools/list")
	}
	for i := 0; i < len(header); i += 2 {
		switch header[i] {
		case "Host":
			req.Host = header[i+1]
		case "RemoteAddr":
			req.RemoteAddr = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	if strings.HasSuffix(r.path, "/events") { // it never ends by itself
		gone, leave := context.WithCancel(req.Context())
		leave()
		req = req.WithContext(gone)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// One walk over all routes finds any that lacks its guard, its budget or its deadlines.
func TestEveryRouteHasItsWalls(t *testing.T) {
	routes := hungRoutes(t)
	h := builtWith(t, fmt.Sprintf("auth_token = %q\n", tokenOfTest))
	full := builtWith(t, fmt.Sprintf("auth_token = %q\nmax_in_flight_bytes = 1024\n", tokenOfTest))
	for i, r := range routes {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			isOpen := slices.Contains(strangersMay, r.path)
			if w := serve(h, r, strings.NewReader("{}")); (w.Code == http.StatusUnauthorized) == isOpen {
				t.Errorf("without a token: %d, open to strangers: %v", w.Code, isOpen)
			}
			// Each uses a different address, because one with too many guesses has to wait.
			if w := serve(h, r, strings.NewReader("{}"), "Authorization", "Bearer wrong", "RemoteAddr", fmt.Sprintf("192.0.2.%d:1", i)); (w.Code == http.StatusUnauthorized) == isOpen {
				t.Errorf("with a wrong token: %d, open to strangers: %v", w.Code, isOpen)
			}
			if w := serve(h, r, strings.NewReader("{}"), "Authorization", "Bearer "+tokenOfTest, "Host", "evil.example"); w.Code != http.StatusForbidden {
				t.Errorf("under a foreign name: %d, want 403", w.Code)
			}
			if w := serve(h, r, strings.NewReader("{}"), "Authorization", "Bearer "+tokenOfTest, "Origin", "http://evil.example"); w.Code != http.StatusForbidden {
				t.Errorf("from a foreign page: %d, want 403", w.Code)
			}
			if w := serve(h, r, strings.NewReader("{}"), "Authorization", "Bearer "+tokenOfTest, "Sec-Fetch-Site", "cross-site"); !isOpen && w.Code != http.StatusForbidden {
				t.Errorf("as an image of a foreign page: %d, want 403", w.Code)
			}
			w := serve(full, r, strings.NewReader("{}"), "Authorization", "Bearer "+tokenOfTest)
			counts := !isOpen || r.guard == "form" // where a body is read
			if refused := w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != ""; refused != counts {
				t.Errorf("with no memory left: %d, open to strangers: %v", w.Code, isOpen)
			}
			clock := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(clock, httptest.NewRequest(r.method, "http://127.0.0.1:8000"+r.path, strings.NewReader("{}")))
			if clock.writes == 0 {
				t.Error("its answer has no deadline")
			}
		})
	}
}

// deadlines is a response writer that counts deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	writes int
}

func (d *deadlines) SetWriteDeadline(time.Time) error { d.writes++; return nil }
func (d *deadlines) SetReadDeadline(time.Time) error  { return nil }

// Every door to a server or a provider applies the limit and bounds its body.
func TestEveryDoorHasItsLimitAndItsBound(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer provider.Close()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, r := range []struct {
		hung
		body  string
		bound bool
	}{
		{hung{http.MethodPost, "/api/mcp-gateway/demo/rpc", ""}, call, true},
		{hung{http.MethodPost, "/rpc", ""}, call, true},
		{hung{http.MethodPost, "/mcp", ""}, call, true},
		{hung{http.MethodPost, "/mcp/demo", ""}, call, true},
		{hung{http.MethodPost, "/v1/chat/completions", ""}, `{"model":"m","messages":[]}`, true},
		{hung{http.MethodPost, "/chat/completions", ""}, `{"model":"m","messages":[]}`, true},
		{hung{http.MethodPost, "/v1/embeddings", ""}, "{}", false},
		{hung{http.MethodGet, "/v1/models", ""}, "", false},
		{hung{http.MethodGet, "/v1/models/x", ""}, "", false},
	} {
		t.Run(r.path, func(t *testing.T) {
			h := builtWith(t, "rate_limit_per_minute = 1\nmax_message_bytes = 4096\nmax_body_bytes = 4096\n",
				fmt.Sprintf("[providers.p]\nbase_url = %q\n", provider.URL))
			if r.bound {
				if w := serve(h, r.hung, strings.NewReader(`{"x":"`+strings.Repeat("x", 8192)+`"}`)); w.Code != http.StatusRequestEntityTooLarge && w.Code != http.StatusTooManyRequests {
					t.Errorf("8 KiB of at most 4: %d, want 413", w.Code)
				}
				h = builtWith(t, "rate_limit_per_minute = 1\n", fmt.Sprintf("[providers.p]\nbase_url = %q\n", provider.URL))
			}
			serve(h, r.hung, strings.NewReader(r.body))
			w := serve(h, r.hung, strings.NewReader(r.body))
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
				t.Errorf("the second call a minute: %d %s, want 429 and Retry-After", w.Code, w.Body)
			}
		})
	}
}

// builtWith builds a program from top-level keys and tables.
func builtWith(t *testing.T, keys string, tables ...string) http.Handler {
	t.Helper()
	cfg, mistakes := config.Load("c.toml", []byte(keys+"[store]\nurl = \"memory:\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"+strings.Join(tables, "")), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return servedBy(t, a)
}

// servedBy runs a program's servers and returns its routes.
func servedBy(t *testing.T, a *App) *router {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var servers sync.WaitGroup
	servers.Go(func() { _ = a.servers.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		servers.Wait()
		_ = a.close()
	})
	d, err := a.live.Load().routes(&generation{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The listener itself bounds headers that do not come or are too large, and idle connections.
func TestConnectionsAreBounded(t *testing.T) {
	for _, c := range []struct {
		rule, send string
		want       string
		after      time.Duration
	}{
		{"a header that does not end", "GET / HTTP/1.1\r\nHost: x\r\n", "", 10 * time.Second},
		{"a connection that is not used again", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200", 2 * time.Minute},
		{"a header that is too large", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 24<<10), "HTTP/1.1 431", time.Minute},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				web := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), telemetry.NewLogger(t.Output(), slog.LevelError, false))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = web.Serve(&oneConn{conn: theirs})
				}()
				began := time.Now()
				go func() { _, _ = io.WriteString(ours, c.send) }()
				got, _ := io.ReadAll(ours)
				if took := time.Since(began); took > c.after || !strings.HasPrefix(string(got), c.want) {
					t.Errorf("answered %.30q, and ended after %s, want %q within %s", got, took, c.want, c.after)
				}
				_ = ours.Close()
				_ = web.Close()
				<-ended
			})
		})
	}
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn, l.done = nil, make(chan struct{})
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	if l.done != nil {
		close(l.done)
	}
	return nil
}
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// Strings made up by callers are no labels of metrics. Otherwise anyone could fill the memory of
// the collecting server.
func TestCallersMakeUpNoLabels(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer provider.Close()
	h := builtWith(t, "", fmt.Sprintf("[providers.p]\nbase_url = %q\n", provider.URL))
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for i := range 20 {
		word := fmt.Sprintf("made-up-%d", i)
		for _, r := range []struct{ path, body string }{
			{"/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"` + word + `"}`},
			{"/api/mcp-gateway/" + word + "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
			{"/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + word + `"}}`},
			{"/mcp", `{"jsonrpc":"2.0","id":1,"method":"` + word + `","params":{` + meta + `}}`},
			{"/mcp/" + word, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`},
			{"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + word + `",` + meta + `}}`},
			{"/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + word + `","arguments":{}}}`},
			{"/v1/chat/completions", `{"model":"` + word + `","messages":[]}`},
			{"/v1/" + word, "{}"},
		} {
			serve(h, hung{http.MethodPost, r.path, ""}, strings.NewReader(r.body), "Mcp-Method", "")
		}
	}
	metrics := serve(h, hung{http.MethodGet, "/metrics", ""}, nil).Body.String()
	if !strings.Contains(metrics, "secateur_gateway_requests_total") || !strings.Contains(metrics, "secateur_mcp_requests_total") {
		t.Fatalf("the metrics are not those of the doors: %.300s", metrics)
	}
	for line := range strings.Lines(metrics) {
		if strings.Contains(line, "made-up") {
			t.Errorf("a label that a caller made up: %s", line)
		}
	}
}

// The header of a server's response is bounded like its body.
func TestAServersHeaderBlockIsBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 300<<10))
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer server.Close()
	h := builtWith(t, "", fmt.Sprintf("[[servers]]\nid = \"large\"\ntransport = \"rpc\"\nurl = %q\n", server.URL))
	w := serve(h, hung{http.MethodPost, "/api/mcp-gateway/large/rpc", ""}, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
	if !strings.Contains(w.Body.String(), "-32012") {
		t.Errorf("300 KiB of headers: %s, want the answer refused", w.Body)
	}
}

func TestWhatThereIsNoMemoryForIsCounted(t *testing.T) {
	h := builtWith(t, "max_in_flight_bytes = 65536\n")
	if w := serve(h, hung{http.MethodPost, "/rpc", ""}, strings.NewReader(strings.Repeat(" ", 100_000))); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("100 kB where 64 KiB may be in flight: %d, want 503 and Retry-After", w.Code)
	}
	metrics := serve(h, hung{http.MethodGet, "/metrics", ""}, nil).Body.String()
	if !strings.Contains(metrics, `secateur_refusals_total{door="pruner",reason="memory",rule=""} 1`) {
		t.Error("it was not counted")
	}
	if !strings.Contains(metrics, "secateur_in_flight_bytes_limit 65536") {
		t.Error("the limit is not told")
	}
}
