package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/gateway"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/store/originals"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a gateway with its servers.
type bench struct {
	door    *httptest.Server
	store   originals.Store
	metrics *prometheus.Registry
}

type option func(*gateway.Options)

// newBench puts a gateway in front of these servers.
func newBench(t *testing.T, servers []upstream.Options, options ...option) *bench {
	t.Helper()
	masker, err := mask.New(mask.Default())
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*upstream.Upstream{}
	var ids []string
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, len(servers))
	for _, o := range servers {
		o.LongString = masker.LongString()
		up, err := upstream.New(o)
		if err != nil {
			t.Fatal(err)
		}
		byID[up.ID()] = up
		ids = append(ids, up.ID())
		go func() { ended <- up.Run(ctx) }()
	}
	b := &bench{store: &originals.Memory{MaxBytes: 1 << 30, TTL: time.Hour}, metrics: prometheus.NewRegistry()}
	opt := gateway.Options{
		Servers: func(id string) (*upstream.Upstream, func()) { return byID[id], func() {} }, IDs: func() []string { return ids },
		Masker: masker, Originals: b.store, MaxMessageBytes: 1 << 20, Metrics: b.metrics,
	}
	for _, o := range options {
		o(&opt)
	}
	g, err := gateway.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/mcp-gateway/{server}/rpc", func(w http.ResponseWriter, r *http.Request) {
		caller := access.Anonymous()
		if name := r.URL.Query().Get("as"); name != "" {
			caller = &access.Principal{Issuer: "token", Subject: name}
		}
		g.Serve(w, r, caller)
	})
	b.door = httptest.NewServer(mux)
	t.Cleanup(func() {
		b.door.Close()
		cancel()
		for range servers {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return b
}

// plainServer is an rpc server that answers every POST with f.
func plainServer(t *testing.T, id string, f http.HandlerFunc) upstream.Options {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return upstream.Options{Settings: upstream.Settings{ID: id, URL: s.URL, Transport: upstream.TransportRPC}}
}

// says is a server that always sends the same bytes.
func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (b *bench) post(t *testing.T, server, body string) answer {
	t.Helper()
	return b.postAs(t, "", server, body)
}

// postAs is post as a principal; "": anonymous.
func (b *bench) postAs(t *testing.T, who, server, body string) answer {
	t.Helper()
	res, err := http.Post(b.door.URL+"/api/mcp-gateway/"+server+"/rpc?as="+who, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// failure reads an error response.
func (a answer) failure(t *testing.T) (code int, word, id string) {
	t.Helper()
	var r struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code int `json:"code"`
			Data struct {
				Code string `json:"code"`
			} `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || r.JSONRPC != "2.0" {
		t.Fatalf("not a JSON-RPC response: %.200s", a.body)
	}
	return r.Error.Code, r.Error.Data.Code, string(r.ID)
}

func TestWhatIsNotCutKeepsItsBytes(t *testing.T) {
	body := "{ \"jsonrpc\" : \"2.0\",\"result\":{\"n\":12345678901234567890,\"e\":1.0e+2,\"a\":1,\"a\":2,\"\\u0061\":\"\\u00e9\\ud800\",\n\t\"unknown\":[{},[]]},\"x\":null,\"id\":1 }"
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(body))})
	a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	if a.body != body || a.status != 200 || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("answer %d %s, want the server's bytes", a.status, a.body)
	}
}

func TestTheServerGetsTheCallersBytes(t *testing.T) {
	got := make(chan string, 1)
	b := newBench(t, []upstream.Options{plainServer(t, "s", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + string(body)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}`)
	})})
	body := `{"jsonrpc":"2.0", "id":12345678901234567890,"method":"x","params":{"n":1.10,"später":"\u00fc"},"extra":true}`
	if a := b.post(t, "s", body); !strings.Contains(a.body, "12345678901234567890") {
		t.Errorf("answer %s", a.body)
	}
	if sent := <-got; sent != "/rpc "+body {
		t.Errorf("the server got %s", sent)
	}
}

func TestLongObservationsAreCutAndKept(t *testing.T) {
	text := strings.Repeat("é", 10_000)
	quoted, _ := json.Marshal(text)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s},{"deep":[[{"x":%s}]]}]}}`, quoted, quoted)
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(body))})
	a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`)
	want := strings.Repeat("é", 2000) + `\n... [KIMI_PROXY_OBSERVATION_MASKED original_chars=10000 head=2000 tail=2000] ...\n` + strings.Repeat("é", 2000)
	if n := strings.Count(a.body, want); n != 2 {
		t.Errorf("%d of 2 strings are cut as they should be: %.300s", n, a.body)
	}
	id := a.header.Get("X-Secateur-Originals") // equal texts share one
	kept, err := b.store.Get(t.Context(), "", id)
	if err != nil || kept != text {
		t.Errorf("original %q: %d bytes, %v", id, len(kept), err)
	}
	if a.header.Get("X-Secateur-Masked") != "2" {
		t.Errorf("X-Secateur-Masked: %q, want 2", a.header.Get("X-Secateur-Masked"))
	}
}

func TestOnlyResultAndErrorDataAreCut(t *testing.T) {
	long := strings.Repeat("x", 5000)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":%q,"data":{%q:%q}}}`, long, long, long)
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(body))})
	a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	if n := strings.Count(a.body, "OBSERVATION_MASKED"); n != 1 || strings.Count(a.body, long) != 2 {
		t.Errorf("%d cuts, want the one in error.data: %.200s", n, a.body)
	}
}

func TestManyOriginalsAreListedInAnIndex(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"jsonrpc":"2.0","id":1,"result":[`)
	for i := range 300 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `"%s"`, strings.Repeat(fmt.Sprintf("%04d ", i), 1000))
	}
	body.WriteString(`]}`)
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(body.String()))})
	a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	listed := strings.Split(a.header.Get("X-Secateur-Originals"), ", ")
	index, err := b.store.Get(t.Context(), "", a.header.Get("X-Secateur-Originals-Index"))
	ids := strings.Fields(index)
	if err != nil || len(listed) != 100 || len(ids) != 300 || ids[0] != listed[0] {
		t.Fatalf("%d listed, %d in the index, %v", len(listed), len(ids), err)
	}
	last, err := b.store.Get(t.Context(), "", ids[299])
	if err != nil || !strings.HasPrefix(last, "0299 ") {
		t.Errorf("the last original: %.20q, %v", last, err)
	}
}

// fullStore refuses everything.
type fullStore struct{ originals.Store }

func (fullStore) Put(context.Context, string, string) (string, error) { return "", originals.ErrFull }

func TestWhatCannotBeKeptIsNotCut(t *testing.T) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"text":%q}}`, strings.Repeat("x", 5000))
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(body))}, func(o *gateway.Options) { o.Originals = fullStore{o.Originals} })
	a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	if a.body != body || a.header.Get("X-Secateur-Originals") != "" {
		t.Errorf("the answer was changed: %.200s", a.body)
	}
	counted := testutil.CollectAndCount(b.metrics, "secateur_gateway_unmasked_total")
	if counted != 1 {
		t.Errorf("%d counters of observations passed whole, want 1", counted)
	}
}

func TestSparedResults(t *testing.T) {
	long := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"text":%q}}`, strings.Repeat("x", 5000))
	named := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			req, _ := wire.ParseRequest(body, wire.MaxRequestDepth)
			if req.Method == "initialize" {
				_, _ = w.Write(wire.AppendResult(nil, req.ID, fmt.Appendf(nil, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":%q,"version":"1"}}`, name)))
				return
			}
			_, _ = io.WriteString(w, long)
		}
	}
	off := false
	pruner, other := plainServer(t, "pruner", named("mcp-pruner")), plainServer(t, "other", named("other"))
	unmasked, exempt := plainServer(t, "unmasked", says(long)), plainServer(t, "exempt", says(long))
	unmasked.Settings.Mask = &off
	exempt.Settings.MaskExempt = []string{"read_*"}
	b := newBench(t, []upstream.Options{pruner, other, unmasked, exempt})
	for _, c := range []struct {
		rule, server, tool string
		cut                bool
	}{
		{"a pruner's recovery", "pruner", "recover_text", false},
		{"its alias", "pruner", "recover_range", false},
		{"a pruner's part of a line", "pruner", "recover_chars", false},
		{"a pruner's search", "pruner", "search_text", false},
		{"a pruner's pruning", "pruner", "prune_text", false},
		{"another tool of a pruner", "pruner", "health", true},
		{"a tool of that name elsewhere", "other", "recover_text", true},
		{"a server with mask = false", "unmasked", "read", false},
		{"a tool named in mask_exempt", "exempt", "read_file", false},
		{"another tool of that server", "exempt", "list", true},
	} {
		a := b.post(t, c.server, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, c.tool))
		if cut := a.body != long; cut != c.cut {
			t.Errorf("%s: cut = %v, want %v", c.rule, cut, c.cut)
		}
	}
}

func TestBadRequests(t *testing.T) {
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(`{}`))})
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		rule, body string
		status     int
		code       int
		id         string
	}{
		{"not JSON", `{"jsonrpc":`, 400, -32700, "null"},
		{"nothing", ``, 400, -32700, "null"},
		{"a byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"x"}`, 400, -32700, "null"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 400, -32700, "null"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, 400, -32600, "null"},
		{"a name twice", `{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}`, 400, -32600, "1"},
		{"a name twice inside params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\u0061":2}}`, 400, -32600, "1"},
		{"the wrong case", `{"jsonrpc":"2.0","id":"q","Method":"x"}`, 400, -32600, `"q"`},
		{"no version", `{"id":1,"method":"x"}`, 400, -32600, "1"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, 400, -32600, "null"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"x"}`, 400, -32600, "null"},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600, "1"},
		{"params of a wrong kind", `{"jsonrpc":"2.0","id":1,"method":"x","params":3}`, 400, -32600, "1"},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"x","params":` + deep + `}`, 400, -32600, "1"},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"x","params":["` + strings.Repeat("x", 1<<20) + `"]}`, 413, -32600, "null"},
	} {
		a := b.post(t, "s", c.body)
		code, _, id := a.failure(t)
		if a.status != c.status || code != c.code || id != c.id {
			t.Errorf("%s: %d %d id %s, want %d %d id %s: %.200s", c.rule, a.status, code, id, c.status, c.code, c.id, a.body)
		}
	}
}

func TestUnknownServerNamesTheKnown(t *testing.T) {
	b := newBench(t, []upstream.Options{plainServer(t, "files", says(`{}`))})
	a := b.post(t, "nobody", `{"jsonrpc":"2.0","id":"é","method":"x"}`)
	code, word, id := a.failure(t)
	if a.status != 404 || code != -32013 || word != "unknown_server" || id != `"é"` || !strings.Contains(a.body, "files") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestRateLimit(t *testing.T) {
	b := newBench(t, []upstream.Options{plainServer(t, "s", says(`{"jsonrpc":"2.0","id":1,"result":{}}`))},
		func(o *gateway.Options) { o.Admission = perMinute(t, 2) })
	for range 5 { // does not count
		if a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.status != 200 {
			t.Fatalf("ping: %d %s", a.status, a.body)
		}
	}
	var a answer
	began := time.Now()
	for range 3 {
		a = b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	}
	code, word, _ := a.failure(t)
	wait, _ := strconv.Atoi(a.header.Get("Retry-After")) // half a minute from the first call
	if early := 30 - int(time.Since(began).Seconds()) - 1; a.status != 429 || code != -32014 || word != "rate_limited" || wait < early || wait > 30 || !strings.Contains(a.body, "Rate limit exceeded") {
		t.Errorf("third call: %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
	}
}

func TestNotificationIs202WhetherOrNotTheServerLives(t *testing.T) {
	got := make(chan string, 2)
	alive := plainServer(t, "alive", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	})
	dead := upstream.Options{Settings: upstream.Settings{ID: "dead", URL: "http://" + nobody, Transport: upstream.TransportRPC}}
	b := newBench(t, []upstream.Options{alive, dead})
	body := `{"jsonrpc":"2.0","method":"notifications/x"}`
	for _, server := range []string{"alive", "dead"} {
		if a := b.post(t, server, body); a.status != 202 || a.body != "" {
			t.Errorf("%s: %d %q, want 202 and nothing", server, a.status, a.body)
		}
	}
	if sent := <-got; sent != body {
		t.Errorf("the server got %s", sent)
	}
}

// nobody is an address without a listener.
const nobody = "127.0.0.1:1"

// wireServer is a server that writes arbitrary bytes, with the given response timeout.
func wireServer(t *testing.T, timeout time.Duration, serve func(net.Conn)) upstream.Options {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			serving.Go(func() {
				defer conn.Close()
				// read it completely, else the write may fail before anything is read
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err != nil {
					return
				}
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		serving.Wait()
	})
	return upstream.Options{
		Settings:        upstream.Settings{ID: "s", URL: "http://" + ln.Addr().String(), Transport: upstream.TransportRPC, ResponseTimeout: timeout},
		MaxMessageBytes: 1 << 20,
	}
}

func TestFailingServers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	send := func(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }
	whole := func(body string) func(net.Conn) {
		return send(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body))
	}
	status := func(line, kind, body string) func(net.Conn) {
		return send(fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", line, kind, len(body), body))
	}
	// hang holds the connection until the peer gives up.
	hang := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for _, c := range []struct {
		rule  string
		serve func(net.Conn)
		code  int
		word  string
	}{
		{"closed without an answer", func(net.Conn) {}, -32010, "upstream_unavailable"},
		{"reset in the middle", func(c net.Conn) {
			send(head + "Content-Length: 1000\r\n\r\n{\"jsonrpc\":")(c)
			_ = c.(*net.TCPConn).SetLinger(0)
		}, -32010, "upstream_unavailable"},
		{"ended before it was whole", send(head + "Content-Length: 1000\r\n\r\n{\"jsonrpc\":"), -32010, "upstream_unavailable"},
		{"no headers", hang, -32011, "upstream_timeout"},
		{"half of the headers", func(c net.Conn) { send(head)(c); hang(c) }, -32011, "upstream_timeout"},
		{"no body", func(c net.Conn) { send(head + "Content-Length: 10\r\n\r\n")(c); hang(c) }, -32011, "upstream_timeout"},
		{"half a body", func(c net.Conn) { send(head + "Content-Length: 100\r\n\r\n{\"jsonrpc\"")(c); hang(c) }, -32011, "upstream_timeout"},
		{"an endless body", func(c net.Conn) {
			send(head + "\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"")(c)
			chunk := strings.Repeat("x", 64<<10)
			for range (1 << 30) / len(chunk) {
				if _, err := io.WriteString(c, chunk); err != nil {
					return
				}
			}
		}, -32012, "upstream_invalid_response"},
		{"a gigabyte announced", func(c net.Conn) { send(head + "Content-Length: 1073741824\r\n\r\n{")(c); hang(c) }, -32012, "upstream_invalid_response"},
		{"an empty body", whole(""), -32012, "upstream_invalid_response"},
		{"HTML", status("200 OK", "text/html", "<html>hello</html>"), -32012, "upstream_invalid_response"},
		{"truncated JSON", whole(`{"jsonrpc":"2.0","id":1,"result":{"a":`), -32012, "upstream_invalid_response"},
		{"JSON that is no JSON-RPC", whole(`{"hello":1}`), -32012, "upstream_invalid_response"},
		{"the wrong id", whole(`{"jsonrpc":"2.0","id":2,"result":{}}`), -32012, "upstream_invalid_response"},
		{"the id as a string", whole(`{"jsonrpc":"2.0","id":"1","result":{}}`), -32012, "upstream_invalid_response"},
		{"no id", whole(`{"jsonrpc":"2.0","result":{}}`), -32012, "upstream_invalid_response"},
		{"404 with text", status("404 Not Found", "text/plain", "no"), -32012, "upstream_invalid_response"},
		{"500 with HTML", status("500 Oops", "text/html", "<h1>500</h1>"), -32012, "upstream_invalid_response"},
		{"500 with JSON that is no answer", status("500 Oops", "application/json", `{"detail":"x"}`), -32012, "upstream_invalid_response"},
		{"202", send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), -32012, "upstream_invalid_response"},
		{"a redirect", send("HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), -32012, "upstream_invalid_response"},
		{"not HTTP", func(c net.Conn) { send("SSH-2.0-x\r\n")(c); hang(c) }, -32012, "upstream_invalid_response"},
		{"deeper than any result", whole(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`), -32012, "upstream_invalid_response"},
		{"its own error under a 500", status("500 Oops", "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-7,"message":"mine","data":{"code":"own"}}}`), -7, "own"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			timeout := time.Minute
			if c.word == "upstream_timeout" { // short only if the test expects a timeout
				timeout = 300 * time.Millisecond
			}
			b := newBench(t, []upstream.Options{wireServer(t, timeout, c.serve)})
			a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
			code, word, id := a.failure(t)
			if a.status != 200 || code != c.code || word != c.word || id != "1" {
				t.Errorf("%d %d %s id %s, want 200 %d %s: %.300s", a.status, code, word, id, c.code, c.word, a.body)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		b := newBench(t, []upstream.Options{{Settings: upstream.Settings{ID: "s", URL: "http://" + nobody, Transport: upstream.TransportRPC}}})
		if code, word, _ := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"x"}`).failure(t); code != -32010 || word != "upstream_unavailable" {
			t.Errorf("%d %s", code, word)
		}
	})
}

func perMinute(t *testing.T, n int) *admission.Control {
	t.Helper()
	c, err := admission.New(admission.Options{PerMinute: n})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A call denied by a rule never reaches the server.
func TestRulesRefuseBeforeTheServerIsAsked(t *testing.T) {
	rules, err := access.NewRules([]access.Rule{{Tool: access.Globs{"write_*"}, Action: access.ActionDeny}}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	server := plainServer(t, "s", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		says(`{"jsonrpc":"2.0","id":1,"result":{}}`)(w, r)
	})
	b := newBench(t, []upstream.Options{server}, func(o *gateway.Options) {
		o.Admission = control
		o.Lists = func(context.Context, string) *catalog.Catalog { return nil }
	})
	call := func(tool string) answer {
		return b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`"}}`)
	}
	if code, _, _ := call("write_file").failure(t); code != -32602 || asked.Load() != 0 {
		t.Errorf("a denied tool: code %d, the server was asked %d times", code, asked.Load())
	}
	if got := call("read_file"); got.status != http.StatusOK || asked.Load() != 1 {
		t.Errorf("an allowed tool: %d %s, the server was asked %d times", got.status, got.body, asked.Load())
	}
}
