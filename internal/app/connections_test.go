package app

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"secateur/internal/config"
)

// room serves on a listener with a limited number of connections. A request for /hold is answered
// when hold is closed.
type room struct {
	t     *testing.T
	all   *connections
	addr  string
	under chan struct{} // receives a value for each request for /hold
	hold  chan struct{}
}

func newRoom(t *testing.T, most int) *room {
	t.Helper()
	return newRoomBehind(t, most, func(ln net.Listener) net.Listener { return ln })
}

// newRoomBehind is newRoom with a listener around its own.
func newRoomBehind(t *testing.T, most int, around func(net.Listener) net.Listener) *room {
	t.Helper()
	r := &room{t: t, under: make(chan struct{}, 10), hold: make(chan struct{})}
	a := &App{connections: newConnections(int64(most)*connectionBytes, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))}
	r.all = a.connections
	web := newServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/hold":
			callerIsKnown(req.Context())
			fallthrough
		case "/stranger":
			r.under <- struct{}{}
			select {
			case <-r.hold:
			case <-req.Context().Done():
			}
		}
		_, _ = io.WriteString(w, "here")
	}), slog.New(slog.DiscardHandler))
	web.ConnState, web.ConnContext = changed, withConnection
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- a.serveOn(web, around(ln)) }()
	t.Cleanup(func() {
		_ = web.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n, bytes := r.all.number(), r.all.bytes.Load(); n != 0 || bytes != 0 {
			t.Errorf("%d connections of %d bytes are counted when all are closed", n, bytes)
		}
	})
	return r
}

// dialled is a client with one connection.
type dialled struct {
	net.Conn
	r *bufio.Reader
}

func (r *room) dial() dialled {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	return dialled{conn, bufio.NewReader(conn)}
}

// ask sends a request.
func (c dialled) ask(path string) { _, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path) }

// answer returns the response, or an error if the connection was closed.
func (c dialled) answer() (string, error) {
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// Idle connections make room for new ones, and those in use are kept. Ten times as many come as
// fit.
func TestRestingConnectionsMakeRoom(t *testing.T) {
	const most = 20
	r := newRoom(t, most)
	used := r.dial()
	used.ask("/hold")
	<-r.under
	var resting []dialled
	for i := range 10 * most {
		c := r.dial()
		c.ask("/")
		if body, err := c.answer(); err != nil || body != "here" {
			t.Fatalf("connection %d: %q, %v", i, body, err)
		}
		if n := r.all.number(); n > most {
			t.Fatalf("%d are open, want %d at most", n, most)
		}
		resting = append(resting, c)
	}
	resting[0].ask("/")
	if body, err := resting[0].answer(); err == nil {
		t.Errorf("the one that rested longest: %q, want it closed by the server", body)
	}
	last := resting[len(resting)-1]
	last.ask("/")
	if body, err := last.answer(); err != nil || body != "here" {
		t.Errorf("the newest: %q, %v, want it there", body, err)
	}
	close(r.hold)
	if body, err := used.answer(); err != nil || body != "here" {
		t.Errorf("the one in use: %q, %v, want its answer", body, err)
	}
	if n := testutil.ToFloat64(r.all.closed.WithLabelValues(closedResting)); n != 10*most+1-most {
		t.Errorf("%v were closed that rested, want %d", n, 10*most+1-most)
	}
}

// If all connections are in use a new one is refused. Once one of them is idle, a new one fits
// again.
func TestConnectionsInUseAreKept(t *testing.T) {
	r := newRoom(t, 2)
	used := []dialled{r.dial(), r.dial()}
	for _, c := range used {
		c.ask("/hold")
		<-r.under
	}
	refused := r.dial()
	refused.ask("/")
	if body, err := refused.answer(); err == nil {
		t.Errorf("a third connection: %q, want it closed", body)
	}
	if n := testutil.ToFloat64(r.all.closed.WithLabelValues(closedNew)); n != 1 {
		t.Errorf("%v refused, want 1", n)
	}
	close(r.hold)
	for i, c := range used {
		if body, err := c.answer(); err != nil || body != "here" {
			t.Errorf("connection %d in use: %q, %v", i, body, err)
		}
	}
	again := r.dial()
	again.ask("/")
	if body, err := again.answer(); err != nil || body != "here" {
		t.Errorf("afterwards: %q, %v", body, err)
	}
}

// The memory of connections and originals is not available for requests.
func TestConnectionsTakeFromWhatMayBeInFlight(t *testing.T) {
	cfg, mistakes := config.Load("c.toml", []byte("max_in_flight_bytes = 1000000\n[store]\nurl = \"memory:\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := servedBy(t, a)
	for i := range int64(200) {
		if _, ok := a.connections.admit(&net.TCPConn{}, connectionBytes); !ok {
			t.Fatalf("connection %d is refused", i)
		}
	}
	metrics := serve(h, hung{http.MethodGet, "/metrics", ""}, nil).Body.String()
	if !strings.Contains(metrics, "secateur_connections 200\n") || !strings.Contains(metrics, "secateur_in_flight_bytes_limit 125000\n") {
		t.Errorf("with 200 connections: %d in flight, want an eighth of what may be without them", a.budget.Limit())
	}
}
