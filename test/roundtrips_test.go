package test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"secateur/internal/store/redisdb/redistest"
)

// A cut takes one round trip to the engine, of three commands, and a call without a cut none:
// counted by the engine itself, and on the wire.
func TestRoundTripsToTheEngine(t *testing.T) {
	server := redistest.Start(t)
	var count atomic.Int64
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := fmt.Sprint("text ", count.Add(1))
		if strings.Contains(string(body), `"long"`) {
			text += strings.Repeat(" and more of it", 1000)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, text)
	}))
	defer backend.Close()
	wire := newEngineWire(t, server.Socket())
	p := start(t, fmt.Sprintf("[store]\nurl = %q\nput_timeout_ms = 30000\n[[servers]]\nid = \"texts\"\nurl = %q\ntransport = \"rpc\"\n", wire.url, backend.URL))
	m := newMonitor(t, server)
	read := func(tool string) (id string) {
		return p.rpc(t, "texts", call(1, tool, "{}")).header.Get("X-Secateur-Originals")
	}
	read("long") // the engine loads the script
	m.since(t)
	if id := read("short"); id != "" {
		t.Fatalf("a short text was cut: %s", id)
	}
	if seen := m.since(t); len(seen) != 0 {
		t.Errorf("a call from which nothing is cut: %q", seen)
	}
	was := wire.count()
	id := read("long")
	if seen, trips := m.since(t), wire.count()-was; id == "" || len(seen) != 3 || trips != 1 {
		t.Errorf("a cut (%s): %q in %d round trips, want three commands in one", id, seen, trips)
	}
	back := p.post(t, "/rpc", call(2, "recover_text", `{"prune_id":"`+id+`","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":false}`))
	// Sent together.
	if seen := m.since(t); !strings.Contains(back.body, "and more of it") || len(seen) != 2 {
		t.Errorf("a recovery: %q, want two commands", seen)
	}
}

// monitor records the engine's commands.
type monitor struct {
	server *redistest.Server
	lines  *bufio.Reader
	fence  int
}

func newMonitor(t *testing.T, server *redistest.Server) *monitor {
	t.Helper()
	conn, err := net.Dial("unix", server.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	return &monitor{server: server, lines: bufio.NewReader(conn)}
}

// since lists the commands since the last call, without those of scripts, of new connections, of
// liveness checks, and of periodic announcements.
func (m *monitor) since(t *testing.T) (names []string) {
	t.Helper()
	m.fence++
	fence := fmt.Sprint("fence-", m.fence)
	c := m.server.Client()
	defer func() { _ = c.Close() }()
	if err := c.Echo(t.Context(), fence).Err(); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := m.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		_, words, ok := strings.Cut(line, "] ")
		switch {
		case strings.Contains(line, fence):
			return names
		case !ok || strings.Contains(line, " lua] ") || slices.ContainsFunc(nowAndThen, func(kind string) bool { return strings.Contains(words, kind) }):
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(words, "\"\r\n"), `"`)
		switch strings.ToLower(name) {
		case "hello", "client", "ping", "echo", "select", "auth":
		default:
			names = append(names, name)
		}
	}
}
