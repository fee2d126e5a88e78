package replica_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"secateur/internal/access"
	"secateur/internal/ops/replica"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

func newGroup(t *testing.T, server *redistest.Server, leaf func() []byte) *replica.Group {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return replica.New(replica.Options{DB: db, Leaf: leaf})
}

var alice = &access.Principal{Issuer: "token", Subject: "alice", Tenant: "team", Roles: []string{"dev"}}

// The target replica gets a forwarded request as the client sent it, with the caller. Messages
// before the response arrive before it.
func TestForward(t *testing.T) {
	server := redistest.Start(t)
	holder, other := newGroup(t, server, nil), newGroup(t, server, nil)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := holder.Accept(r)
		body, readErr := io.ReadAll(r.Body)
		if err != nil || readErr != nil || !p.Is(alice) || !p.HasRole("dev") || r.Header.Get("Mcp-Name") != "t" || r.Header.Get("Authorization") != "" {
			t.Errorf("the holder got %s of %+v (%v, %v): %v", body, p, err, readErr, r.Header)
		}
		if r.URL.RequestURI() != "/mcp/s?separator=-" {
			t.Errorf("at %s", r.URL.RequestURI())
		}
		w.Header().Set("X-Secateur-Originals", "prn_1")
		if strings.Contains(string(body), "stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\nretry: 1000\ndata:\n\n: keep-alive\n\nevent: message\ndata: {\"method\":\"notifications/progress\"}\n\nevent: message\ndata: {\"id\":1,\"result\":{}}\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"id":1,"error":{}}`)
	}))
	defer door.Close()
	call := replica.Call{Path: "/mcp/s?separator=-", Header: http.Header{"Mcp-Name": {"t"}, "Authorization": {"Bearer secret"}}, Principal: alice, MaxBytes: 1000}
	call.Notify = func([]byte) { t.Error("something came ahead of nothing") }
	if _, err := other.Forward(t.Context(), holder.ID(), call); !errors.Is(err, replica.ErrGone) {
		t.Errorf("a replica that has not announced itself: %v, want ErrGone", err)
	}
	holder.Announce(t.Context(), door.Listener.Addr().String())
	call.Body = []byte(`{"plain":1}`)
	if a, err := other.Forward(t.Context(), holder.ID(), call); err != nil || a.Status != 400 || string(a.Body) != `{"id":1,"error":{}}` || a.Header.Get("X-Secateur-Originals") != "prn_1" {
		t.Errorf("Forward = %+v, %v", a, err)
	}
	ahead := ""
	call.Body, call.Notify = []byte(`{"stream":1}`), func(b []byte) { ahead += string(b) }
	if a, err := other.Forward(t.Context(), holder.ID(), call); err != nil || a.Status != 200 || string(a.Body) != `{"id":1,"result":{}}` || ahead != `{"method":"notifications/progress"}` {
		t.Errorf("Forward of a stream = %+v after %s, %v", a, ahead, err)
	}
	door.Close()
	if _, err := other.Forward(t.Context(), holder.ID(), call); !errors.Is(err, replica.ErrGone) {
		t.Errorf("a replica that is gone: %v, want ErrGone", err)
	}
	var alone *replica.Group
	if _, err := alone.Forward(t.Context(), holder.ID(), call); !errors.Is(err, replica.ErrGone) {
		t.Errorf("without others: %v, want ErrGone", err)
	}
}

// Only requests signed for this replica, path and body are accepted.
func TestAcceptRefuses(t *testing.T) {
	server := redistest.Start(t)
	holder, third, other := newGroup(t, server, nil), newGroup(t, server, nil), newGroup(t, server, nil)
	seen := make(chan *http.Request, 1)
	door := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		seen <- r
	}))
	defer door.Close()
	holder.Announce(t.Context(), door.Listener.Addr().String())
	if _, err := other.Forward(t.Context(), holder.ID(), replica.Call{Path: "/mcp", Body: []byte("body"), Principal: alice, MaxBytes: 1000}); err != nil {
		t.Fatal(err)
	}
	signed := <-seen
	accepts := func(by *replica.Group, path, body, header string) bool {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set(replica.Header, header)
		if _, err := by.Accept(r); err != nil {
			return false
		}
		_, err := io.ReadAll(r.Body)
		return err == nil
	}
	header := signed.Header.Get(replica.Header)
	if !accepts(holder, "/mcp", "body", header) {
		t.Fatal("what was signed is not let in")
	}
	for rule, ok := range map[string]bool{
		"for another replica":    accepts(third, "/mcp", "body", header),
		"for one that is alone":  accepts(nil, "/mcp", "body", header),
		"for another path":       accepts(holder, "/mcp/s", "body", header),
		"with another body":      accepts(holder, "/mcp", "other", header),
		"with an empty body":     accepts(holder, "/mcp", "", header),
		"with another time":      accepts(holder, "/mcp", "body", "1"+header),
		"without a signature":    accepts(holder, "/mcp", "body", header[:strings.LastIndex(header, " ")]),
		"with another signature": accepts(holder, "/mcp", "body", header[:len(header)-2]+"00"),
		"with nothing":           accepts(holder, "/mcp", "body", ""),
	} {
		if ok {
			t.Errorf("%s: let in", rule)
		}
	}
}

// Over TLS the certificate must be the announced one, whatever its name.
func TestForwardOverTLS(t *testing.T) {
	server := redistest.Start(t)
	var shown atomic.Pointer[[]byte]
	holder := newGroup(t, server, func() []byte { return *shown.Load() })
	door := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":1}`) }))
	door.StartTLS()
	defer door.Close()
	call := replica.Call{Path: "/mcp", Principal: alice, MaxBytes: 1000}
	for rule, leaf := range map[string][]byte{"its own": door.Certificate().Raw, "another": []byte("another")} {
		shown.Store(&leaf)
		holder.Announce(t.Context(), door.Listener.Addr().String())
		third := newGroup(t, server, nil) // with no connection yet
		if _, err := third.Forward(t.Context(), holder.ID(), call); (err == nil) != (rule == "its own") {
			t.Errorf("%s announced: %v", rule, err)
		}
	}
}

func TestAddressOf(t *testing.T) {
	server, addr := redistest.StartOnPort(t, redistest.Port)
	overTCP, err := redisdb.Open(t.Context(), redisdb.Options{URL: "redis://" + addr})
	if err != nil {
		t.Fatal(err)
	}
	defer overTCP.Close()
	overSocket, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer overSocket.Close()
	for _, tt := range []struct {
		configured, listener string
		db                   *redisdb.DB
		want                 string
	}{
		{"", "127.0.0.1:8000", overTCP, "127.0.0.1:8000"},
		{"10.0.0.7:80", "127.0.0.1:8000", overTCP, "10.0.0.7:80"},
		{"", "0.0.0.0:8000", overTCP, "127.0.0.1:8000"}, // the interface that leads to the engine
		{"", "[::]:8000", overTCP, "127.0.0.1:8000"},
		{"", "0.0.0.0:8000", overSocket, "127.0.0.1:8000"},
	} {
		listener, err := net.ResolveTCPAddr("tcp", tt.listener)
		if err != nil {
			t.Fatal(err)
		}
		if got := replica.AddressOf(t.Context(), tt.configured, listener, tt.db); got != tt.want {
			t.Errorf("AddressOf(%q, %s) = %s, want %s", tt.configured, tt.listener, got, tt.want)
		}
	}
}

// An endless response is cut off at its limit, whole or as a stream.
func TestForwardBoundsAnAnswer(t *testing.T) {
	server := redistest.Start(t)
	holder, other := newGroup(t, server, nil), newGroup(t, server, nil)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
		}
		for range 64 { // more than any buffer on the way
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "\n\n")
	}))
	defer door.Close()
	holder.Announce(t.Context(), door.Listener.Addr().String())
	for _, path := range []string{"/whole", "/stream"} {
		a, err := other.Forward(t.Context(), holder.ID(), replica.Call{Path: path, Principal: alice, MaxBytes: 1000})
		if err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %d bytes, %v, want an error", path, len(a.Body), err)
		}
	}
}
