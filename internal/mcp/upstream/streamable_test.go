package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

// fakeHTTP is a legacy server over Streamable HTTP whose parts a test may replace.
type fakeHTTP struct {
	*httptest.Server
	mu      sync.Mutex
	session int      // guarded by mu; number of the current session
	log     []string // guarded by mu; method, session id and version header of each request
	posted  []string // guarded by mu; responses and notifications received

	call  func(w http.ResponseWriter, r *http.Request, req request) // tools/call
	get   func(w http.ResponseWriter, r *http.Request)              // nil: 405
	first func(w http.ResponseWriter, r *http.Request, req request) bool
}

func newFakeHTTP(t *testing.T) *fakeHTTP {
	t.Helper()
	f := &fakeHTTP{session: 1}
	f.call = func(w http.ResponseWriter, _ *http.Request, req request) { sendJSON(w, req.ID, `{"ok":true}`) }
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fakeHTTP) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session++
}

func (f *fakeHTTP) id() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("session-%d", f.session)
}

func (f *fakeHTTP) logged() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func (f *fakeHTTP) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.posted, "\n")
}

func (f *fakeHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var req request
	json.Unmarshal(body, &req)
	f.mu.Lock()
	f.log = append(f.log, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, req.Method, r.Header.Get("Mcp-Session-Id"), r.Header.Get("Mcp-Protocol-Version"))))
	if req.ID == nil || req.Method == "" {
		f.posted = append(f.posted, string(body))
	}
	f.mu.Unlock()
	if f.first != nil && f.first(w, r, req) {
		return
	}
	if req.Method != "initialize" && r.Header.Get("Mcp-Session-Id") != f.id() {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodGet && f.get != nil:
		f.get(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case req.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", f.id())
		sendJSON(w, req.ID, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"fake"}}`)
	case req.Method == "ping":
		sendJSON(w, req.ID, `{}`)
	case req.Method == "tools/call":
		f.call(w, r, req)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func sendJSON(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// sse starts a stream and returns a function that writes to it unbuffered.
func sse(w http.ResponseWriter) func(format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(format string, args ...any) {
		fmt.Fprintf(w, format, args...)
		w.(http.Flusher).Flush()
	}
}

func httpSettings(url string) Settings {
	return Settings{ID: "remote", URL: url, StartupTimeout: patience, ResponseTimeout: patience}
}

func TestStreamableFaults(t *testing.T) {
	for _, c := range faults("application/json") {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			// a server without a session that breaks when it is called
			serve := func(conn net.Conn, body []byte) bool {
				var req request
				json.Unmarshal(body, &req)
				switch req.Method {
				case "initialize":
					io.WriteString(conn, response(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, req.ID)))
				case "tools/call":
					return c.serve(conn, body)
				default:
					io.WriteString(conn, response(405, "text/plain", ""))
				}
				return true
			}
			u := start(t, Options{Settings: c.limited(httpSettings(rawServer(t, serve))), MaxMessageBytes: 1 << 20})
			if _, err := u.Peer(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, c.kind, c.status, append(c.parts, `server "remote"`)...)
			if st := u.Status().State; st != Ready {
				t.Errorf("one failed call made the server %s", st)
			}
		})
	}
}

func TestStreamableAnswers(t *testing.T) {
	for _, c := range []struct {
		rule string
		call func(w http.ResponseWriter, r *http.Request, req request)
	}{
		{"JSON", func(w http.ResponseWriter, _ *http.Request, req request) { sendJSON(w, req.ID, `{"ok":true}`) }},
		{"a stream", func(w http.ResponseWriter, _ *http.Request, req request) {
			send := sse(w)
			send(": hello\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":{\"ok\":true}}\n\n", req.ID)
		}},
		{"a stream that goes on after the answer", func(w http.ResponseWriter, r *http.Request, req request) {
			sse(w)("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}\n\n", req.ID)
			<-r.Context().Done()
		}},
		{"messages before the answer", func(w http.ResponseWriter, _ *http.Request, req request) {
			send := sse(w)
			send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
			send("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
			send("data: what\n\nevent: other\ndata: {}\n\n")
			send("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}\r\n\r\n", req.ID)
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := newFakeHTTP(t)
			f.call = c.call
			u := start(t, Options{Settings: httpSettings(f.URL)})
			for _, id := range []string{`1`, `"x"`, `1`} {
				mustCall(t, u, toolCall(t, id, "echo", "1"), `{"ok":true}`)
			}
			if strings.HasPrefix(c.rule, "messages") {
				eventually(t, "its request is refused", func() bool { return strings.Count(f.got(), `"id":"q","error":{"code":-32601`) == 3 })
			}
			if st := u.Status(); st.State != Ready || st.Protocol != "2025-06-18" || st.ServerName != "fake" || st.Era != era.Legacy {
				t.Errorf("Status = %+v", st)
			}
		})
	}
}

func TestStreamableConnectionsAreUsedAgain(t *testing.T) {
	f := newFakeHTTP(t)
	var conns sync.Map
	answered := make(chan struct{})
	f.call = func(w http.ResponseWriter, r *http.Request, req request) {
		conns.Store(r.RemoteAddr, true)
		sse(w)("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":1}\n\n", req.ID)
		<-answered
		io.WriteString(w, ": something after the answer\n\n")
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	for range 20 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `1`)
		answered <- struct{}{}
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n > 10 { // a call may begin before the last stream has ended
		t.Errorf("%d connections for 20 calls one after the other", n)
	}
}

func TestStreamableSession(t *testing.T) {
	f := newFakeHTTP(t)
	u, stop := startStoppable(t, Options{Settings: httpSettings(f.URL)})
	defer stop()
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	f.forget()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`) })
	}
	wg.Wait()
	stop()
	log := f.logged()
	count := func(entry string) int {
		n := 0
		for _, l := range log {
			if strings.HasPrefix(l, entry) {
				n++
			}
		}
		return n
	}
	if log[0] != "POST initialize" || log[1] != "POST notifications/initialized session-1 2025-06-18" {
		t.Errorf("the handshake was %q", log[:2])
	}
	if n := count("POST initialize"); n != 2 {
		t.Errorf("%d handshakes, want one for each session: %q", n, log)
	}
	if n := count("POST tools/call session-2 2025-06-18"); n != 20 {
		t.Errorf("%d calls in the second session: %q", n, log)
	}
	if n := count("DELETE  session-2"); n != 1 {
		t.Errorf("%d good-byes: %q", n, log)
	}
	if r := u.Status().Restarts; r != 0 {
		t.Errorf("%d restarts", r)
	}
}

// While a lost session is being replaced, every call waits, including secateur's own requests.
func TestStreamableCallsWaitForTheNewSession(t *testing.T) {
	f := newFakeHTTP(t)
	var lost atomic.Bool
	var early atomic.Int32
	shaking, released := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	f.first = func(_ http.ResponseWriter, r *http.Request, req request) bool {
		switch {
		case req.Method == "initialize" && lost.Load():
			close(shaking)
			<-released
		case req.Method == "tools/call" && r.Header.Get("Mcp-Session-Id") == "":
			early.Add(1)
		}
		return false
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	lost.Store(true)
	f.forget()
	var wg sync.WaitGroup
	call := func(opt CallOptions) {
		wg.Go(func() {
			if _, err := u.CallWith(t.Context(), toolCall(t, "1", "echo", "1"), opt); err != nil {
				t.Error(err)
			}
		})
	}
	call(CallOptions{})
	<-shaking
	call(CallOptions{Own: true})
	call(CallOptions{})
	eventually(t, "all are under way", func() bool { return u.Status().InFlight == 3 })
	release()
	wg.Wait()
	if n := early.Load(); n > 0 {
		t.Errorf("%d calls did not wait", n)
	}
}

func TestStreamableSessionLostWithAnotherStatus(t *testing.T) {
	f := newFakeHTTP(t)
	f.first = func(w http.ResponseWriter, r *http.Request, req request) bool {
		lost := req.Method != "initialize" && r.Header.Get("Mcp-Session-Id") != f.id()
		if lost {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		}
		return lost
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	f.forget()
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
}

func TestStreamableSessionLostAgainAndAgain(t *testing.T) {
	f := newFakeHTTP(t)
	var lost atomic.Bool
	f.first = func(w http.ResponseWriter, _ *http.Request, req request) bool {
		if req.Method == "tools/call" && lost.Load() {
			http.Error(w, "who?", http.StatusNotFound)
			return true
		}
		return false
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	lost.Store(true)
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "session")
}

func TestStreamableServerGone(t *testing.T) {
	f := newFakeHTTP(t)
	u := start(t, Options{Settings: httpSettings(f.URL)})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	f.Listener.Close()
	f.CloseClientConnections()
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0)
}

func TestStreamableStreamEndsEarly(t *testing.T) {
	t.Run("it cannot be taken up", func(t *testing.T) {
		f := newFakeHTTP(t)
		f.call = func(w http.ResponseWriter, _ *http.Request, _ request) { sse(w)("data: {\"jsonrpc\"") }
		u := start(t, Options{Settings: httpSettings(f.URL)})
		_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
		wantError(t, err, Unavailable, 0, "before the answer")
	})
	t.Run("it is taken up where it was left", func(t *testing.T) {
		f := newFakeHTTP(t)
		var id atomic.Value
		f.call = func(w http.ResponseWriter, _ *http.Request, req request) {
			id.Store(string(req.ID))
			sse(w)("id: e1\nretry: 1\ndata:\n\n")
		}
		f.get = func(w http.ResponseWriter, r *http.Request) {
			switch r.Header.Get("Last-Event-Id") {
			case "e1":
				sse(w)("id: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			case "e2":
				sse(w)("id: e3\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}\n\n", id.Load())
			default:
				<-r.Context().Done()
			}
		}
		u := start(t, Options{Settings: httpSettings(f.URL)})
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	})
	t.Run("the server does not let us", func(t *testing.T) {
		f := newFakeHTTP(t)
		f.call = func(w http.ResponseWriter, _ *http.Request, _ request) { sse(w)("id: e1\nretry: 1\ndata:\n\n") }
		u := start(t, Options{Settings: httpSettings(f.URL)})
		_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
		wantError(t, err, Unavailable, 0, "before the answer")
	})
}

func TestStreamableStreamWithAForeignAnswer(t *testing.T) {
	f := newFakeHTTP(t)
	f.call = func(w http.ResponseWriter, _ *http.Request, _ request) {
		sse(w)("data: {\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":1}\n\n")
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Invalid, 200, "id of another call")
}

func TestStreamableEventTooLong(t *testing.T) {
	f := newFakeHTTP(t)
	f.call = func(w http.ResponseWriter, _ *http.Request, req request) {
		sse(w)("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"%s\"}\n\n", req.ID, strings.Repeat("x", 1<<20))
	}
	u := start(t, Options{Settings: httpSettings(f.URL), MaxMessageBytes: 1 << 16})
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Invalid, 0, "max_message_bytes")
}

func TestStreamableEventWithoutRoom(t *testing.T) {
	f := newFakeHTTP(t)
	f.call = func(w http.ResponseWriter, _ *http.Request, req request) {
		sse(w)("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"%s\"}\n\n", req.ID, strings.Repeat("x", 2<<20))
	}
	full := budget.New(1<<20, nil)
	u := start(t, Options{Settings: httpSettings(f.URL), Budget: full})
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Overloaded, 0, "no room")
	if n := full.InFlight(); n != 0 {
		t.Errorf("%d bytes are held with nothing in flight", n)
	}
}

func TestStreamableTimeoutAndCancel(t *testing.T) {
	f := newFakeHTTP(t)
	came, ended := make(chan struct{}), make(chan struct{})
	f.call = func(w http.ResponseWriter, r *http.Request, req request) {
		sse(w)(": wait\n\n")
		if req.Params.Name == "left" {
			close(came)
			defer close(ended)
		}
		<-r.Context().Done()
	}
	s := httpSettings(f.URL)
	s.ResponseTimeout = 2 * time.Second
	u := start(t, Options{Settings: s})
	_, err := u.Call(t.Context(), toolCall(t, "1", "silent", "1"))
	wantError(t, err, Timeout, 0)
	eventually(t, "the server is told", func() bool {
		return strings.Contains(f.got(), `"method":"notifications/cancelled","params":{"requestId":2,"reason":"timeout"}`)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-came
		cancel()
	}()
	if _, err := u.CallWith(ctx, toolCall(t, "1", "left", "1"), CallOptions{Patient: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	<-ended
	eventually(t, "the server is told", func() bool { return strings.Contains(f.got(), `"requestId":3,"reason":"cancelled by the client"`) })
}

func TestStreamableStandingStream(t *testing.T) {
	for _, c := range []struct {
		rule string
		get  func(w http.ResponseWriter, r *http.Request, nth int32)
		want bool
	}{
		{"messages come on it", func(w http.ResponseWriter, r *http.Request, _ int32) {
			sse(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			<-r.Context().Done()
		}, true},
		{"it is opened again after it broke", func(w http.ResponseWriter, r *http.Request, nth int32) {
			if nth == 1 {
				sse(w)("id: 7\nretry: 1\ndata:\n\n")
				return
			}
			if r.Header.Get("Last-Event-Id") != "7" {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			sse(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			<-r.Context().Done()
		}, true},
		{"a server may have none", func(w http.ResponseWriter, _ *http.Request, _ int32) { w.WriteHeader(http.StatusMethodNotAllowed) }, false},
		{"its content may be anything", func(w http.ResponseWriter, _ *http.Request, _ int32) { io.WriteString(w, "<html>") }, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := newFakeHTTP(t)
			var n atomic.Int32
			f.get = func(w http.ResponseWriter, r *http.Request) { c.get(w, r, n.Add(1)) }
			heard := make(chan string, 10)
			u := start(t, Options{Settings: httpSettings(f.URL), Incoming: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				heard <- m.Method
				return nil
			})})
			mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
			if c.want {
				if got := <-heard; got != "notifications/tools/list_changed" {
					t.Errorf("heard %q", got)
				}
			} else {
				eventually(t, "it was tried", func() bool { return n.Load() == 1 })
			}
			mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
		})
	}
}

func TestStreamableRelatedMessages(t *testing.T) {
	f := newFakeHTTP(t)
	f.call = func(w http.ResponseWriter, _ *http.Request, req request) {
		send := sse(w)
		send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n", req.Params.Meta.ProgressToken)
		send("data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\",\"params\":{\"for\":%s}}\n\n", req.Params.Arguments)
		if !comesTrue(func() bool { return strings.Contains(f.got(), `"result":`+string(req.Params.Arguments)) }) {
			t.Errorf("no answer for %s", req.Params.Arguments)
		}
		send("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", req.ID, req.Params.Arguments)
	}
	u := start(t, Options{Settings: httpSettings(f.URL)})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			var mu sync.Mutex
			var got []string
			related := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, m.Method+" "+string(m.ProgressToken()))
				if m.Kind() == wire.Request {
					var p struct {
						For json.RawMessage `json:"for"`
					}
					json.Unmarshal(m.Params, &p)
					return wire.AppendResult(nil, m.ID, p.For)
				}
				return nil
			})
			req := message(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":%d},"_meta":{"progressToken":"mine"}}}`, i))
			reply, err := u.CallWith(t.Context(), req, CallOptions{Related: related})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if want := fmt.Sprintf(`{"n":%d}`, i); string(reply.Result) != want || len(got) != 2 || !slices.Contains(got, `notifications/progress "mine"`) {
				t.Errorf("Call = %s, want %s; related %q", reply.Result, want, got)
			}
		})
	}
	wg.Wait()
}

func TestStreamableSendsConfiguredHeaders(t *testing.T) {
	f := newFakeHTTP(t)
	var wrong atomic.Int32
	f.first = func(_ http.ResponseWriter, r *http.Request, _ request) bool {
		if r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Accept-Encoding") != "" {
			wrong.Add(1)
		}
		return false
	}
	s := httpSettings(f.URL)
	s.Headers = map[string]secret.Text{"x-api-key": secret.New("k")}
	u, stop := startStoppable(t, Options{Settings: s})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	stop()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d requests without the header", n)
	}
}

// modernHTTP is a modern server that keeps the headers of each call.
func modernHTTP(t *testing.T, headers chan<- http.Header) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req request
		json.NewDecoder(r.Body).Decode(&req)
		switch req.Method {
		case "server/discover":
			sendJSON(w, req.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
		case "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			headers <- r.Header
			sendJSON(w, req.ID, `1`)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func TestCallersHeaders(t *testing.T) {
	given := []Header{
		{"Mcp-Param-City", "Paris"},
		{"mcp-param-place", "Besançon"},
		{"Mcp-Param-Empty", ""},
		{"Mcp-Param-Evil", "a\r\nX-Evil: 1"},
		{"Mcp-Session-Id", "x"},
		{"Mcp-Name", "x"},
		{"X-Api-Key", "x"},
		{"not a name", "x"},
		{"", "x"},
		{"Host", "x"},
		{"Content-Length", "1"},
	}
	want := map[string]string{
		"Mcp-Param-City": "Paris", "Mcp-Param-Place": "=?base64?QmVzYW7Dp29u?=", "Mcp-Param-Empty": "", "Mcp-Param-Evil": "=?base64?YQ0KWC1FdmlsOiAx?=",
		"Mcp-Name": "echo", "Mcp-Method": "tools/call", "X-Api-Key": "k",
	}
	t.Run("a modern server gets them", func(t *testing.T) {
		headers := make(chan http.Header, 10)
		s := httpSettings(modernHTTP(t, headers))
		s.Protocol, s.Headers = ProtocolModern, map[string]secret.Text{"X-Api-Key": secret.New("k")}
		u := start(t, Options{Settings: s})
		if _, err := u.CallWith(t.Context(), toolCall(t, "1", "echo", "1"), CallOptions{Header: given}); err != nil {
			t.Fatal(err)
		}
		got := <-headers
		for name, value := range want {
			if v, ok := got[name]; !ok || len(v) != 1 || v[0] != value {
				t.Errorf("%s: %q, want %q", name, v, value)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok && (strings.HasPrefix(name, "Mcp-") && name != "Mcp-Protocol-Version" || strings.Contains(name, "Evil")) {
				t.Errorf("%s is there", name)
			}
		}
	})
	t.Run("a legacy server does not", func(t *testing.T) {
		f := newFakeHTTP(t)
		f.call = func(w http.ResponseWriter, r *http.Request, req request) {
			if r.Header.Get("Mcp-Param-City") != "" || r.Header.Get("Mcp-Name") != "" {
				t.Errorf("headers %v", r.Header)
			}
			sendJSON(w, req.ID, `1`)
		}
		u := start(t, Options{Settings: httpSettings(f.URL)})
		if _, err := u.CallWith(t.Context(), toolCall(t, "1", "echo", "1"), CallOptions{Header: given}); err != nil {
			t.Fatal(err)
		}
	})
}
