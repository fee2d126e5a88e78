package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/config"
)

// A header of many fields takes a hundred times its size when parsed, so their number is bounded
// for all callers.
func TestAHeaderOfManyFieldsIsRefused(t *testing.T) {
	a, h := appWithToken(t, "")
	defer a.close()
	for n, want := range map[int]int{maxHeaderFields - 10: http.StatusOK, maxHeaderFields + 1: http.StatusRequestHeaderFieldsTooLarge} {
		header := []string{"Authorization", "Bearer " + tokenOfTest}
		for i := range n {
			header = append(header, fmt.Sprint("X", i), "")
		}
		if w := serve(h, hung{http.MethodGet, "/api/v1/whoami", ""}, nil, header...); w.Code != want {
			t.Errorf("%d fields: %d, want %d", n, w.Code, want)
		}
	}
}

// The memory for headers of unknown callers is bounded. The connection that sent most is closed
// first.
func TestStrangersHeadersAreBounded(t *testing.T) {
	all := newConnections(mostCharged+connectionBytes, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	dial := func() (client net.Conn, server *connection) {
		client, theirs := net.Pipe()
		server, ok := all.admit(theirs, 1)
		if !ok {
			t.Fatal("there is no room for a connection")
		}
		t.Cleanup(func() { _, _ = client.Close(), server.Close() })
		return client, server
	}
	send := func(client net.Conn, server *connection, n int) error {
		go func() { _, _ = io.WriteString(client, strings.Repeat("x", n)) }()
		_, err := io.ReadFull(server, make([]byte, n))
		return err
	}
	heavy, heavyHere := dial()
	if err := send(heavy, heavyHere, 1<<20); err != nil || all.charged.Load() != mostCharged {
		t.Fatalf("a stranger's megabyte: %v, charged %d, want as much as a header may take", err, all.charged.Load())
	}
	light, lightHere := dial()
	if err := send(light, lightHere, 2<<10); err != nil {
		t.Errorf("another stranger's header: %v, want the heavier to make room", err)
	}
	if _, err := heavy.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the heavier one: %v, want it closed", err)
	}
	known, knownHere := dial()
	callerIsKnown(withConnection(t.Context(), knownHere))
	if err := send(known, knownHere, 1<<20); err != nil || all.charged.Load() != 2<<10*parsedRatio {
		t.Errorf("a known caller: %v, charged %d, want nothing charged", err, all.charged.Load())
	}
	changed(knownHere, http.StateIdle)
	if err := send(known, knownHere, 1<<10); err != nil || all.charged.Load() != 3<<10*parsedRatio {
		t.Errorf("their next request: %v, charged %d, want it charged until they are known", err, all.charged.Load())
	}
	alone, aloneHere := dial()
	all.limit = all.charged.Load()
	_, _ = light.Close(), lightHere.Close()
	_, _ = known.Close(), knownHere.Close()
	all.limit = 1 << 10
	if err := send(alone, aloneHere, 1<<10); !errors.Is(err, errNoRoom) {
		t.Errorf("where nobody has more: %v, want errNoRoom", err)
	}
	_ = aloneHere.Close()
	if n := all.charged.Load(); n != 0 {
		t.Errorf("%d bytes are charged when all are closed", n)
	}
}

// Long requests of unknown callers hold no place: they can be evicted like idle connections.
func TestStrangersHoldNoPlace(t *testing.T) {
	r := newRoom(t, 2)
	strangers := []dialled{r.dial(), r.dial()}
	for _, c := range strangers {
		c.ask("/stranger")
		<-r.under
	}
	for range 2 {
		c := r.dial()
		c.ask("/hold")
		<-r.under
	}
	for i, c := range strangers {
		if body, err := c.answer(); err == nil {
			t.Errorf("stranger %d: %q, want the connection closed", i, body)
		}
	}
	close(r.hold)
}

// A half-sent sign-in counts as an unknown caller's, a half-sent call with a token as a known
// caller's.
func TestHalfSignInsHoldNoPlace(t *testing.T) {
	a, _ := appWithToken(t, "")
	a.connections.limit = 2 * connectionBytes
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.serve(ctx, a, ln, a.closeMCP) }()
	room := &room{t: t, addr: ln.Addr().String()}
	half := func(path, header string) dialled {
		c := room.dial()
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n%s\r\n", path, header)
		// Its handler reads.
		if line, err := c.r.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Errorf("half a request for %s: %q, %v", path, line, err)
		}
		_, _ = c.r.ReadString('\n')
		return c
	}
	half("/ui/session", "")
	half("/ui/session", "")
	known := []dialled{half("/rpc", "Authorization: Bearer "+tokenOfTest+"\r\n"), half("/rpc", "Authorization: Bearer "+tokenOfTest+"\r\n")}
	late := room.dial()
	_, _ = io.WriteString(late, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if body, err := late.answer(); err == nil {
		t.Errorf("a connection where known callers have all: %q, want it refused", body)
	}
	for i, c := range known {
		_, _ = io.WriteString(c, "{}")
		if body, err := c.answer(); err != nil || !strings.Contains(body, "jsonrpc") {
			t.Errorf("known caller %d: %q, %v, want an answer", i, body, err)
		}
		_ = c.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}

// appWithToken returns a program that requires tokenOfTest.
func appWithToken(t *testing.T, more string) (*App, http.Handler) {
	t.Helper()
	cfg, mistakes := config.Load("c.toml", []byte("listen = \"127.0.0.1:0\"\ndrain_delay = 0\nauth_token = \""+tokenOfTest+"\"\n"+more+"[store]\nurl = \"memory:\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.live.Load().hang(&generation{}); err != nil {
		t.Fatal(err)
	}
	return a, a
}
