package downstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"secateur/internal/access"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brain is a server whose sessions do what a test says. Nil functions have simple defaults.
type brain struct {
	handle  func(ctx context.Context, s *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer
	notify  func(ctx context.Context, s *fakeSession, n *wire.Message, x downstream.Exchange)
	respond func(s *fakeSession, r *wire.Message)

	mu     sync.Mutex
	opened []*fakeSession
	none   *fakeSession // the one of Stateless
}

func (b *brain) Open(o downstream.Opening) downstream.Session {
	s := &fakeSession{brain: b, Opening: o, closed: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, s)
	return s
}

func (b *brain) Stateless() downstream.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.none == nil {
		b.none = &fakeSession{brain: b, closed: make(chan struct{})}
	}
	return b.none
}

func (b *brain) sessions() []*fakeSession {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

type fakeSession struct {
	*brain
	downstream.Opening
	closed chan struct{}

	mu   sync.Mutex
	who  *access.Principal // set by a token in a message
	seen []string          // notifications and responses, in order
}

// Principal returns the principal that a message's token named.
func (s *fakeSession) Principal() *access.Principal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.who
}

func (s *fakeSession) Handle(ctx context.Context, req *wire.Message, x downstream.Exchange) downstream.Answer {
	if token, ok := req.ProxyToken(); ok && token == "body" {
		s.mu.Lock()
		s.who = &access.Principal{Subject: "body's"}
		s.mu.Unlock()
	}
	if req.Method == "initialize" {
		if strings.Contains(string(req.Params), `"slow":true`) {
			time.Sleep(time.Minute)
		}
		if x.Principal() == nil && s.Principal() == nil {
			return refused(req, 401)
		}
		version := "2025-06-18"
		if _, asked, ok := strings.Cut(string(req.Params), `"protocolVersion":"`); ok {
			version, _, _ = strings.Cut(asked, `"`)
		}
		return result(req, `{"protocolVersion":"`+version+`","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
	}
	if s.handle != nil {
		return s.handle(ctx, s, req, x)
	}
	return result(req, `{"echo":"`+req.Method+`"}`)
}

func (s *fakeSession) Notify(ctx context.Context, n *wire.Message, x downstream.Exchange) {
	s.mu.Lock()
	s.seen = append(s.seen, n.Method)
	s.mu.Unlock()
	if s.notify != nil {
		s.notify(ctx, s, n, x)
	}
}

func (s *fakeSession) Respond(_ context.Context, r *wire.Message) {
	s.mu.Lock()
	s.seen = append(s.seen, "response "+r.ID.String())
	s.mu.Unlock()
	if s.respond != nil {
		s.respond(s, r)
	}
}

func (s *fakeSession) Close() { close(s.closed) }

func (s *fakeSession) saw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, " ")
}

func result(req *wire.Message, result string) downstream.Answer {
	return downstream.Answer{Body: wire.AppendResult(nil, req.ID, []byte(result))}
}

func streamed(a downstream.Answer) downstream.Answer {
	a.Stream = true
	return a
}

func refused(req *wire.Message, status int) downstream.Answer {
	return downstream.Answer{Body: wire.NewError(wire.CodeUnauthorized, "no").AppendResponse(nil, req.ID), Status: status, Refused: true}
}

// house is a running HTTP.
type house struct {
	t *testing.T // of the enclosing bubble; nil: none
	*downstream.HTTP
	*brain
	url    string
	client *http.Client
}

// options configure a house with one server, "one", beside the aggregate. "Bearer good" is a valid
// token; without a token the caller is anonymous.
func options(b *brain) downstream.HTTPOptions {
	return downstream.HTTPOptions{
		Server: func(name, query string) (downstream.Server, error) {
			switch {
			case query == "broken":
				return nil, errors.New("broken: not a query")
			case name == "" || name == "one":
				return b, nil
			}
			return nil, nil // no server has this name
		},
		Known:           func(*access.Principal) []string { return []string{"one"} },
		Check:           checkToken,
		MaxMessageBytes: 1 << 20,
	}
}

func checkToken(r *http.Request) (*access.Principal, access.Verdict) {
	switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); token {
	case "":
		return access.Anonymous(), access.Verdict{}
	case "none":
		return nil, access.Verdict{Kind: access.Unauthorized, Cause: access.CauseMissing, Reason: "send a token"}
	case "wrong":
		return nil, access.Verdict{Kind: access.Unauthorized, Cause: access.CauseInvalid, Reason: "send another token"}
	case "stranger":
		return nil, access.Verdict{Kind: access.Forbidden, Reason: "go away"}
	default:
		return &access.Principal{Subject: token}, access.Verdict{}
	}
}

func mux(h *downstream.HTTP) http.Handler {
	m := http.NewServeMux()
	m.Handle("/mcp", h)
	m.Handle("/mcp/{server}", h)
	return m
}

// build opens a house on a socket.
func build(t *testing.T, b *brain, change ...func(*downstream.HTTPOptions)) *house {
	t.Helper()
	opt := options(b)
	for _, c := range change {
		c(&opt)
	}
	h := downstream.NewHTTP(opt)
	srv := httptest.NewServer(mux(h))
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = h.Close(ctx)
		srv.Close()
	})
	return &house{HTTP: h, brain: b, url: srv.URL + "/mcp", client: srv.Client()}
}

// ask sends an HTTP request with header fields given as "Name: value".
func (h *house) ask(t *testing.T, method, path, body string, header ...string) *http.Response {
	t.Helper()
	return h.askWith(t.Context(), t, method, path, body, header...)
}

func (h *house) askWith(ctx context.Context, t *testing.T, method, path, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	}
	for _, field := range header {
		name, value, _ := strings.Cut(field, ": ")
		if value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// open initializes a session and returns its header field.
func (h *house) open(t *testing.T, version string, header ...string) string {
	t.Helper()
	resp := h.ask(t, "POST", "", initialize(version), header...)
	if body := text(t, resp); resp.StatusCode != http.StatusOK {
		t.Fatalf("initialize: %d %s", resp.StatusCode, body)
	}
	id := resp.Header.Get("Mcp-Session-Id")
	if len(id) < 22 {
		t.Fatalf("session id %q", id)
	}
	return "Mcp-Session-Id: " + id
}

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `"}}`
}

func call(id any, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q}`, id, method)
}

func note(method string) string { return `{"jsonrpc":"2.0","method":"` + method + `"}` }

// event is an event or comment received from a stream.
type event struct{ name, id, data, retry, comment string }

// events reads a stream one event or comment at a time.
type events struct{ r *bufio.Reader }

func eventsOf(r io.Reader) *events { return &events{bufio.NewReader(r)} }

func (e *events) next() (event, error) {
	var ev event
	var data []string
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			ev.data = strings.Join(data, "\n")
			return ev, nil
		case name == "":
			ev.comment = value
		case name == "data":
			data = append(data, value)
		case name == "id":
			ev.id = value
		case name == "event":
			ev.name = value
		case name == "retry":
			ev.retry = value
		}
	}
}

func (e *events) must(t *testing.T) event {
	t.Helper()
	ev, err := e.next()
	if err != nil {
		t.Fatalf("next event: %v", err)
	}
	return ev
}

// rest reads a stream to its end and returns the data of its events.
func (e *events) rest(t *testing.T) []string {
	t.Helper()
	var all []string
	for {
		ev, err := e.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.data != "" {
			all = append(all, ev.data)
		}
	}
}

// within fails a test that waits too long.
func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("waited too long for %s", what)
	}
}

// try posts a message; hanging up is not a failure.
func (h *house) try(ctx context.Context, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, field := range header {
		name, value, _ := strings.Cut(field, ": ")
		req.Header.Set(name, value)
	}
	return h.client.Do(req)
}
