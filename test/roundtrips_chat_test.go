package test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/store/redisdb/redistest"
)

// A chat request takes two round trips to the engine before it is sent, however long the
// conversation is and however much is newly cut: one reads everything, one stores the originals and
// all records. Another records its cost. Counted on the wire.
func TestRoundTripsOfAConversation(t *testing.T) {
	server := redistest.Start(t)
	wire := newEngineWire(t, server.Socket())
	provider := newTripsProvider(t, wire)
	for path, shape := range shapeOf {
		t.Run(path, func(t *testing.T) {
			empty(t, server)
			p := provider.start(t, path, true)
			calls := slices.Repeat([]int{1}, 18) // of each turn
			ask := func(more ...int) (before int) {
				t.Helper()
				calls = append(calls, more...)
				before, _ = provider.ask(t, p, path, shape.talk(calls, func(turn int) int {
					if turn == 18 || turn == 24 || turn == 25 {
						return 400
					}
					return 0
				}))
				return before
			}
			ask(1) // connections are made, scripts are loaded
			ask(1)
			for range 4 {
				if n := ask(1); n != 2 {
					t.Errorf("a request of %d turns, nothing of it cut anew: %d round trips before it goes out, want 2", len(calls), n)
				}
			}
			originals := func() int { return len(server.Client().Keys(t.Context(), "secateur:v1:o:*").Val()) }
			for _, results := range []int{1, 4} { // the 25th turn's are big, and the 26th's
				was := originals()
				if n := ask(results); n != 2 || originals() != was+results {
					t.Errorf("a request with %d results that are cut for the first time: %d round trips before it goes out, want 2; %d originals more", results, n, originals()-was)
				}
			}
			q := provider.start(t, path, false)
			was := wire.count()
			if got := q.post(t, path, shape.talk(calls, func(int) int { return 0 })); got.status != http.StatusOK || <-provider.reached != was {
				t.Errorf("a request of which nothing can be cut: %d, asks the engine %d times", got.status, wire.count()-was)
			}
		})
	}
}

// Masking old results must be claimed first, so that the branches of a conversation do not all
// spend its savings. The claim travels with the originals.
func TestRoundTripsOfAClaim(t *testing.T) {
	server := redistest.Start(t)
	wire := newEngineWire(t, server.Socket())
	provider := newTripsProvider(t, wire)
	for path, shape := range shapeOf {
		t.Run(path, func(t *testing.T) {
			empty(t, server)
			p := provider.start(t, path, true)
			lines := func(turn int) int {
				if turn == 0 {
					return 400 // pruned: the engine loads the script
				}
				return 80 // too short for that
			}
			masked, isClaimed := "0", func() bool { return hasRecord(t, server, "claim/") }
			if path == "/v1/messages" { // without a cache mark a rewrite costs nothing
				isClaimed = func() bool { return masked != "0" }
			}
			for turns := 1; !isClaimed(); turns++ {
				n, got := provider.ask(t, p, path, shape.talk(slices.Repeat([]int{1}, turns), lines))
				now := got.header.Get("X-Secateur-Masked")
				if turns > 2 && n != 2 {
					t.Errorf("a request of %d turns, %s results masked after %s: %d round trips before it goes out, want 2", turns, now, masked, n)
				}
				if masked = now; turns == 100 {
					t.Fatalf("nothing was claimed in %d turns, %s results are masked", turns, masked)
				}
			}
			if masked == "0" {
				t.Error("something was claimed, and nothing masked")
			}
		})
	}
}

func empty(t *testing.T, server *redistest.Server) {
	t.Helper()
	if err := server.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// hasRecord reports whether a record with this key prefix is stored.
func hasRecord(t *testing.T, server *redistest.Server, key string) bool {
	t.Helper()
	for _, name := range server.Client().Keys(t.Context(), "secateur:v1:r:*").Val() {
		if strings.Contains(server.Client().Get(t.Context(), name).Val(), key) {
			return true
		}
	}
	return false
}

// tripsProvider is a provider that notes the number of round trips when a request reaches it.
type tripsProvider struct {
	wire    *engineWire
	url     string
	reached chan int
}

func newTripsProvider(t *testing.T, wire *engineWire) *tripsProvider {
	t.Helper()
	p := &tripsProvider{wire: wire, reached: make(chan int, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		p.reached <- wire.count()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","choices":[],"content":[],"output":[]}`)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// start runs a program, with or without cuts, that sends a path's requests to the provider.
func (p *tripsProvider) start(t *testing.T, path string, cuts bool) *program {
	t.Helper()
	name, format := providerOf[path][0], providerOf[path][1]
	return start(t, fmt.Sprintf(`
[store]
url = %q
put_timeout_ms = 30000
[context_pruning]
enabled = %v
[observation_masking.schema1]
enabled = %v
strategy = "priced"
max_loss = 0.2
[providers.%s]
format = %q
base_url = %q
api_key = "k"
prices = { input = 1.0, cached_input = 0.1, cache_write = 1.0, output = 4.0, cache_ttl_s = 300 }
`, p.wire.url, cuts, cuts, name, format, p.url))
}

// ask returns how many round trips a request makes before it is sent, after all of them are done.
func (p *tripsProvider) ask(t *testing.T, program *program, path, body string) (before int, got answer) {
	t.Helper()
	was := p.wire.count()
	if got = program.post(t, path, body); got.status != http.StatusOK {
		t.Fatalf("%d %.200s", got.status, got.body)
	}
	before = <-p.reached - was
	p.wire.await(t, was+before+1) // its cost is recorded after the answer
	return before, got
}

// providerOf is the name and the format of a path's provider.
var providerOf = map[string][2]string{"/v1/chat/completions": {"main", "chat"}, "/v1/messages": {"anthropic", "messages"}, "/v1/responses": {"openai", "responses"}}

// shape is how a format writes a turn: calls, one after the other, and their results.
type shape struct{ head, open, call, between, result, end string }

var shapeOf = map[string]shape{
	"/v1/chat/completions": {
		`{"model":"m","messages":[{"role":"user","content":"find part 3"}`,
		`,{"role":"assistant","content":null,"tool_calls":[`, `{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{}"}}`,
		`]},`, `{"role":"tool","tool_call_id":"call_%d","content":%q}`, ``,
	},
	"/v1/messages": {
		`{"model":"claude-opus-5-5","max_tokens":100,"messages":[{"role":"user","content":"find part 3"}`,
		`,{"role":"assistant","content":[`, `{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{}}`,
		`]},{"role":"user","content":[`, `{"type":"tool_result","tool_use_id":"toolu_%d","content":%q}`, `]}`,
	},
	"/v1/responses": {
		`{"model":"m","store":false,"input":[{"role":"user","content":"find part 3"}`,
		`,`, `{"type":"function_call","call_id":"call_%d","name":"shell","arguments":"{}"}`,
		`,`, `{"type":"function_call_output","call_id":"call_%d","output":%q}`, ``,
	},
}

// talk is a conversation of turns with the given numbers of calls; lines gives the length of each
// turn's results.
func (s shape) talk(calls []int, lines func(turn int) int) string {
	var b strings.Builder
	b.WriteString(s.head)
	id := 0
	for turn, n := range calls {
		var asked, answers []string
		for range n {
			text := fmt.Sprint("result ", id)
			for line := range lines(turn) {
				text += fmt.Sprintf("\ndef part_%d_%d(): return %d", id, line, line*id)
			}
			asked, answers = append(asked, fmt.Sprintf(s.call, id)), append(answers, fmt.Sprintf(s.result, id, text))
			id++
		}
		b.WriteString(s.open + strings.Join(asked, ",") + s.between + strings.Join(answers, ",") + s.end)
	}
	return b.String() + "]}"
}

// engineWire sits before an engine's socket and counts round trips: each time a client sends
// something after an answer.
type engineWire struct {
	url string

	mu    sync.Mutex // guards the fields below
	trips int
	news  chan struct{} // closed on the next one
}

func newEngineWire(t *testing.T, socket string) *engineWire {
	t.Helper()
	path := filepath.Join(filepath.Dir(socket), "w") // short, as a socket's path must be
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	w := &engineWire{url: (&url.URL{Scheme: "unix", Path: path, RawQuery: "read_timeout=30s&write_timeout=30s&dial_timeout=30s&pool_size=200"}).String(), news: make(chan struct{})}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			engine, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			conn := &wireConn{wire: w}
			all.Go(func() { conn.pass(engine, client, conn.asked) })
			all.Go(func() { conn.pass(client, engine, conn.answered) })
		}
	})
	t.Cleanup(func() { _ = ln.Close() }) // the programs have ended, and so have their connections
	return w
}

type wireConn struct {
	wire *engineWire

	mu      sync.Mutex // guards the field below
	waiting bool       // for an answer
}

func (c *wireConn) pass(to, from net.Conn, note func([]byte)) {
	defer func() { _, _ = to.Close(), from.Close() }()
	for chunk := make([]byte, 1<<20); ; {
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		note(chunk[:n])
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

// nowAndThen are keys in periodic commands that belong to no request: liveness, membership, savings
// so far.
var nowAndThen = []string{"secateur:schema", "secateur:v1:replica:", "secateur:v1:history:"}

// asked counts a round trip, except for those that make a connection, check the engine, or announce
// this replica.
func (c *wireConn) asked(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := strings.ToLower(string(b[:min(len(b), 30)]))
	isOther := func(word string) bool { return strings.Contains(head, word) }
	isOf := func(kind string) bool { return bytes.Contains(b, []byte(kind)) }
	if c.waiting || slices.ContainsFunc(nowAndThen, isOf) || slices.ContainsFunc([]string{"hello", "client", "ping"}, isOther) {
		return
	}
	c.waiting = true
	c.wire.add()
}

func (c *wireConn) answered([]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
}

func (w *engineWire) add() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trips++
	close(w.news)
	w.news = make(chan struct{})
}

func (w *engineWire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trips
}

// await waits until that many have been counted.
func (w *engineWire) await(t *testing.T, trips int) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		w.mu.Lock()
		n, news := w.trips, w.news
		w.mu.Unlock()
		if n >= trips {
			return
		}
		select {
		case <-news:
		case <-timeout:
			t.Fatalf("%d round trips after a minute, want %d", n, trips)
		}
	}
}
