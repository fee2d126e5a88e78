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

	"secateur/internal/redisdb/redistest"
)

// A request of a conversation costs two round trips to the engine before it goes out, however long the conversation is: one asks for everything, one writes
// everything down. Another writes down what it has cost. A result that is cut for the first time has one of its own. Counted on the wire.
func TestRoundTripsOfAConversation(t *testing.T) {
	server := redistest.Start(t)
	wire := newEngineWire(t, server.Socket())
	atProvider := make(chan int, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		atProvider <- wire.count()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","choices":[],"content":[],"output":[]}`)
	}))
	defer provider.Close()
	for _, door := range []struct{ path, provider string }{
		{"/v1/chat/completions", "main"}, {"/v1/messages", "anthropic"}, {"/v1/responses", "openai"},
	} {
		t.Run(door.path, func(t *testing.T) {
			start := func(pruning bool) *program {
				return start(t, fmt.Sprintf(`
[store]
url = %q
put_timeout_ms = 30000
[context_pruning]
enabled = %v
[observation_masking.schema1]
enabled = %v
strategy = "priced"
[providers.%s]
format = %q
base_url = %q
api_key = "k"
prices = { input = 1.0, cached_input = 0.1, cache_write = 1.0, output = 4.0, cache_ttl_s = 300 }
`, wire.url, pruning, pruning, door.provider, formatOf[door.path], provider.URL))
			}
			p := start(true)
			ask := func(turns int) (before int) {
				was := wire.count()
				if got := p.post(t, door.path, talkOf[door.path](turns)); got.status != http.StatusOK {
					t.Fatalf("%d turns: %d %.200s", turns, got.status, got.body)
				}
				before = <-atProvider - was
				wire.await(t, was+before+1) // what it has cost is written down after the answer
				return before
			}
			ask(19) // connections are made, scripts are learnt
			ask(20)
			for turns := 21; turns < 25; turns++ {
				if n := ask(turns); n != 2 {
					t.Errorf("a request of %d turns, nothing of it cut anew: %d round trips before it goes out, want 2", turns, n)
				}
			}
			if n := ask(25); n != 3 { // the 25th result is a big one
				t.Errorf("a request with a result that is cut for the first time: %d round trips before it goes out, want 3", n)
			}
			q := start(false)
			was := wire.count()
			if got := q.post(t, door.path, talkOf[door.path](19)); got.status != http.StatusOK || <-atProvider != was {
				t.Errorf("a request of which nothing can be cut: %d, asks the engine %d times", got.status, wire.count()-was)
			}
		})
	}
}

var formatOf = map[string]string{"/v1/chat/completions": "chat", "/v1/messages": "messages", "/v1/responses": "responses"}

// talkOf makes conversations of so many tool turns; the 19th and the 25th result are big.
var talkOf = map[string]func(turns int) string{
	"/v1/chat/completions": func(turns int) string {
		return toolTalk(`{"model":"m","messages":[{"role":"user","content":"find part 3"}`, turns,
			`,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%[1]d","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_%[1]d","content":%[2]q}`)
	},
	"/v1/messages": func(turns int) string {
		return toolTalk(`{"model":"claude-opus-5-5","max_tokens":100,"messages":[{"role":"user","content":"find part 3"}`, turns,
			`,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%[1]d","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%[1]d","content":%[2]q}]}`)
	},
	"/v1/responses": func(turns int) string {
		return toolTalk(`{"model":"m","store":false,"input":[{"role":"user","content":"find part 3"}`, turns,
			`,{"type":"function_call","call_id":"call_%[1]d","name":"shell","arguments":"{}"},{"type":"function_call_output","call_id":"call_%[1]d","output":%[2]q}`)
	},
}

func toolTalk(head string, turns int, turn string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range turns {
		text := fmt.Sprint("result ", i)
		if i == 18 || i == 24 {
			for line := range 400 {
				text += fmt.Sprintf("\ndef part_%d_%d(): return %d", i, line, line*i)
			}
		}
		fmt.Fprintf(&b, turn, i, text)
	}
	return b.String() + "]}"
}

// engineWire stands before an engine's socket and counts round trips: each time a client says something after it was answered.
type engineWire struct {
	url string

	mu    sync.Mutex // guards the fields below
	trips int
	news  chan struct{} // closed when there is another
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
	t.Cleanup(func() { _ = ln.Close() }) // the programs have ended, and their connections with them
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

// asked counts a round trip, but not those that make a connection, look whether the engine answers, or tell of this replica now and then.
func (c *wireConn) asked(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := strings.ToLower(string(b[:min(len(b), 30)]))
	isOther := func(word string) bool { return strings.Contains(head, word) }
	if c.waiting || bytes.Contains(b, []byte("secateur:schema")) || bytes.Contains(b, []byte("secateur:v1:replica:")) ||
		slices.ContainsFunc([]string{"hello", "client", "ping"}, isOther) {
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

// await waits until so many have been counted.
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
