package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

// fakeSSE is a server over HTTP+SSE whose parts a test may replace.
type fakeSSE struct {
	*httptest.Server
	mu      sync.Mutex
	streams []*sseStream // guarded by mu; all streams ever opened
	posted  []string     // guarded by mu; responses and notifications received

	// the content of the endpoint event
	endpoint func(session int) string
	// true: handled completely
	open func(w http.ResponseWriter, r *http.Request) bool
	call func(s *sseStream, w http.ResponseWriter, req request) // tools/call
	// true: handled completely
	post func(w http.ResponseWriter, r *http.Request, session string) bool
}

// sseStream is one session.
type sseStream struct {
	mu   sync.Mutex // held while writing
	w    http.ResponseWriter
	hang chan struct{} // closed to end the stream
}

func (s *sseStream) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, "event: message\ndata: "+format+"\n\n", args...)
	s.w.(http.Flusher).Flush()
}

func (s *sseStream) answer(id json.RawMessage, result string) {
	s.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func newFakeSSE(t *testing.T) *fakeSSE {
	t.Helper()
	f := &fakeSSE{}
	f.endpoint = func(session int) string { return fmt.Sprintf("/messages?session=%d", session) }
	f.call = func(s *sseStream, w http.ResponseWriter, req request) {
		w.WriteHeader(http.StatusAccepted)
		s.answer(req.ID, `{"ok":true}`)
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fakeSSE) settings() Settings {
	return Settings{ID: "old", URL: f.URL + "/sse", Transport: TransportSSE, StartupTimeout: patience, ResponseTimeout: patience}
}

// end ends the newest stream.
func (f *fakeSSE) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.streams[len(f.streams)-1].hang)
}

func (f *fakeSSE) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.posted, "\n")
}

func (f *fakeSSE) sessions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

func (f *fakeSSE) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/sse":
		f.serveStream(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/messages":
		f.servePost(w, r)
	default:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (f *fakeSSE) serveStream(w http.ResponseWriter, r *http.Request) {
	if f.open != nil && f.open(w, r) {
		return
	}
	s := &sseStream{w: w, hang: make(chan struct{})}
	f.mu.Lock()
	f.streams = append(f.streams, s)
	n := len(f.streams)
	f.mu.Unlock()
	s.mu.Lock()
	sse(w)(": welcome\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"too/early\"}\n\nevent: endpoint\ndata: %s\n\n", f.endpoint(n))
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-s.hang:
	}
	s.mu.Lock() // no further writes
}

func (f *fakeSSE) servePost(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	if f.post != nil && f.post(w, r, session) {
		return
	}
	body, _ := io.ReadAll(r.Body)
	var req request
	json.Unmarshal(body, &req)
	f.mu.Lock()
	s := f.streams[len(f.streams)-1]
	known := session == fmt.Sprint(len(f.streams))
	if req.ID == nil || req.Method == "" {
		f.posted = append(f.posted, string(body))
	}
	f.mu.Unlock()
	switch {
	case !known:
		http.Error(w, "no such session", http.StatusNotFound)
	case req.Method == "initialize":
		w.WriteHeader(http.StatusAccepted)
		s.answer(req.ID, `{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old"}}`)
	case req.Method == "ping":
		w.WriteHeader(http.StatusAccepted)
		s.answer(req.ID, `{}`)
	case req.Method == "tools/call":
		f.call(s, w, req)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func TestHTTPSSEAnswers(t *testing.T) {
	for _, c := range []struct {
		rule   string
		change func(f *fakeSSE)
	}{
		{"a relative address", func(*fakeSSE) {}},
		{"a relative address with a relative path", func(f *fakeSSE) {
			f.endpoint = func(n int) string { return fmt.Sprintf("messages?session=%d", n) }
		}},
		{"an absolute address", func(f *fakeSSE) {
			f.endpoint = func(n int) string { return fmt.Sprintf("%s/messages?session=%d", f.URL, n) }
		}},
		{"an address with space around it", func(f *fakeSSE) {
			f.endpoint = func(n int) string { return fmt.Sprintf("  /messages?session=%d ", n) }
		}},
		{"any content of a POST's answer", func(f *fakeSSE) {
			f.call = func(s *sseStream, w http.ResponseWriter, req request) {
				s.answer(req.ID, `{"ok":true}`)
				io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(req.ID)+`,"result":"not this one"}`)
			}
		}},
		{"an answer before the POST is taken", func(f *fakeSSE) {
			f.call = func(s *sseStream, w http.ResponseWriter, req request) {
				s.answer(req.ID, `{"ok":true}`)
				time.Sleep(time.Millisecond)
				w.WriteHeader(http.StatusAccepted)
			}
		}},
		{"an answer in several lines", func(f *fakeSSE) {
			f.call = func(s *sseStream, w http.ResponseWriter, req request) {
				w.WriteHeader(http.StatusAccepted)
				s.say("{\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\ndata: \"result\":{\"ok\":true}}", req.ID)
			}
		}},
		{"noise on the stream", func(f *fakeSSE) {
			f.call = func(s *sseStream, w http.ResponseWriter, req request) {
				w.WriteHeader(http.StatusOK)
				s.say("what\n\nevent: other\ndata: {}\n\nevent: endpoint\ndata: http://elsewhere.example/\n\n: x")
				s.answer(req.ID, `{"ok":true}`)
			}
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := newFakeSSE(t)
			c.change(f)
			u := start(t, Options{Settings: f.settings()})
			for _, id := range []string{`1`, `"x"`, `1`} {
				mustCall(t, u, toolCall(t, id, "echo", "1"), `{"ok":true}`)
			}
			if st := u.Status(); st.State != Ready || st.Protocol != "2024-11-05" || st.ServerName != "old" || st.Era != era.Legacy || st.Restarts != 0 {
				t.Errorf("Status = %+v", st)
			}
			if !strings.Contains(f.got(), "notifications/initialized") {
				t.Errorf("the server got %s", f.got())
			}
		})
	}
}

func TestHTTPSSEThatDoesNotStart(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent elsewhere") }))
	t.Cleanup(elsewhere.Close)
	secrets := func(s *Settings) { s.Headers = map[string]secret.Text{"Authorization": secret.New("Bearer canary")} }
	for _, c := range []struct {
		rule   string
		change func(f *fakeSSE, s *Settings)
		kind   Kind
		status int
		parts  []string
	}{
		{"an address of another host is refused", func(f *fakeSSE, s *Settings) {
			secrets(s)
			f.endpoint = func(int) string { return elsewhere.URL + "/messages" }
		}, Invalid, 0, []string{"another origin", "refused"}},
		{"an address of another scheme too", func(f *fakeSSE, _ *Settings) {
			f.endpoint = func(int) string { return strings.Replace(f.URL, "http:", "https:", 1) + "/messages" }
		}, Invalid, 0, []string{"another origin"}},
		{"and one without a scheme", func(f *fakeSSE, s *Settings) {
			secrets(s)
			f.endpoint = func(int) string { return strings.TrimPrefix(elsewhere.URL, "http:") + "/messages" }
		}, Invalid, 0, []string{"another origin"}},
		{"and one that is none", func(f *fakeSSE, _ *Settings) {
			f.endpoint = func(int) string { return "http://[::1/messages" }
		}, Invalid, 0, []string{"no address"}},
		{"an endpoint event that does not come is waited for as long as a start", func(f *fakeSSE, s *Settings) {
			s.StartupTimeout = 200 * time.Millisecond
			f.open = func(w http.ResponseWriter, r *http.Request) bool {
				sse(w)(": wait\n\n")
				<-r.Context().Done()
				return true
			}
		}, Unavailable, 0, []string{"no endpoint event within 200ms"}},
		{"headers that do not come too", func(f *fakeSSE, s *Settings) {
			s.StartupTimeout = 200 * time.Millisecond
			f.open = func(_ http.ResponseWriter, r *http.Request) bool {
				<-r.Context().Done()
				return true
			}
		}, Unavailable, 0, []string{"200ms"}},
		{"an initialize that is not answered too", func(f *fakeSSE, s *Settings) {
			s.StartupTimeout = 5 * time.Second // enough to get that far on a busy machine
			f.post = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.WriteHeader(http.StatusAccepted)
				return true
			}
		}, Unavailable, 0, []string{"did not answer initialize within 5s"}},
		{"a stream that ends first", func(f *fakeSSE, _ *Settings) {
			f.open = func(w http.ResponseWriter, _ *http.Request) bool {
				sse(w)("event: endpoint\ndata: /messages\n") // cut short
				return true
			}
		}, Unavailable, 0, []string{"ended its stream before the endpoint event"}},
		{"a stream that ends after it", func(f *fakeSSE, _ *Settings) {
			f.post = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.WriteHeader(http.StatusAccepted)
				f.end()
				return true
			}
		}, Unavailable, 0, []string{"ended its stream before it answered initialize"}},
		{"no stream", func(f *fakeSSE, _ *Settings) {
			f.open = func(w http.ResponseWriter, _ *http.Request) bool {
				http.Error(w, "use POST", http.StatusMethodNotAllowed)
				return true
			}
		}, Invalid, 405, []string{"HTTP 405", "Streamable HTTP"}},
		{"no stream but a page", func(f *fakeSSE, _ *Settings) {
			f.open = func(w http.ResponseWriter, _ *http.Request) bool {
				io.WriteString(w, "<html>")
				return true
			}
		}, Invalid, 200, []string{"HTML"}},
		{"other credentials", func(f *fakeSSE, s *Settings) {
			secrets(s)
			f.open = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
		}, Invalid, 401, []string{"headers"}},
		{"a POST that is refused", func(f *fakeSSE, _ *Settings) {
			f.post = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				http.Error(w, "no", http.StatusTeapot)
				return true
			}
		}, Invalid, 418, []string{"418"}},
		{"nobody there", func(_ *fakeSSE, s *Settings) { s.URL = "http://" + nobody + "/sse" }, Unavailable, 0, []string{"refused"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := newFakeSSE(t)
			s := f.settings()
			c.change(f, &s)
			u := start(t, Options{Settings: s})
			err := failedStart(t, u)
			wantError(t, err, c.kind, c.status, append(c.parts, `server "old": `)...)
			if strings.Count(err.Error(), `server "old"`) != 1 || strings.Contains(err.Error(), "canary") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// failedStart returns why the first start failed.
func failedStart(t *testing.T, u *Upstream) error {
	t.Helper()
	v := u.server.(*supervisor)
	eventually(t, "the start has failed", func() bool { return v.now.Load().err != nil })
	return v.now.Load().err
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://h/a", "http://h/b?c", true},
		{"http://h:80/", "http://h/", true},
		{"https://h:443/", "https://H/", true},
		{"http://h:443/", "https://h/", false},
		{"http://h:8080/", "http://h/", false},
		{"http://h.evil/", "http://h/", false},
		{"http://h@evil/", "http://h/", false},
		{"ftp://h/", "http://h/", false},
		{"http://[::1]:80/", "http://[::1]/", true},
	} {
		a, _ := url.Parse(c.a)
		b, _ := url.Parse(c.b)
		if sameOrigin(a, b) != c.want || sameOrigin(b, a) != c.want {
			t.Errorf("sameOrigin(%s, %s) is not %v", c.a, c.b, c.want)
		}
	}
}

func TestHTTPSSEStreamThatEnds(t *testing.T) {
	f := newFakeSSE(t)
	f.call = func(s *sseStream, w http.ResponseWriter, req request) {
		w.WriteHeader(http.StatusAccepted)
		if req.Params.Name == "echo" {
			s.answer(req.ID, `{"ok":true}`)
		} else {
			f.end()
		}
	}
	told := make(chan *Peer, 10)
	u := start(t, Options{Settings: f.settings(), Opened: func(p *Peer) { told <- p }})
	for range 3 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
		_, err := u.Call(t.Context(), toolCall(t, "1", "end", "1"))
		wantError(t, err, Unavailable, 0, "ended its stream")
		<-told
	}
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	if n := f.sessions(); n != 4 || u.Status().Restarts != 3 {
		t.Errorf("%d sessions, Status = %+v", n, u.Status())
	}
}

// A server that lost its session but kept the stream gets a new session, and the call is made
// there.
func TestHTTPSSESessionLost(t *testing.T) {
	f := newFakeSSE(t)
	var forgotten atomic.Value
	forgotten.Store("")
	f.post = func(w http.ResponseWriter, _ *http.Request, session string) bool {
		if session == forgotten.Load() {
			http.Error(w, "Could not find session", http.StatusNotFound)
			return true
		}
		return false
	}
	u := start(t, Options{Settings: f.settings()})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	forgotten.Store("1")
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	if st := u.Status(); f.sessions() != 2 || st.Restarts != 1 || !strings.Contains(st.LastError, "no longer knows its session") {
		t.Errorf("%d sessions, Status = %+v", f.sessions(), st)
	}
	forgotten.Store("2")
	if err := u.Notify(t.Context(), message(t, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)); err == nil {
		t.Error("a lost notification is no error")
	}
	eventually(t, "the end is seen", func() bool { s := u.Status(); return s.State != Ready || s.Restarts > 1 })
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
}

func TestHTTPSSERefusedPostFailsItsCallAlone(t *testing.T) {
	f := newFakeSSE(t)
	f.call = func(s *sseStream, w http.ResponseWriter, req request) {
		if req.Params.Name == "echo" {
			s.answer(req.ID, `{"ok":true}`)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}
	u := start(t, Options{Settings: f.settings()})
	_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
	wantError(t, err, Invalid, 500, "HTTP 500")
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	if f.sessions() != 1 {
		t.Errorf("%d sessions", f.sessions())
	}
}

func TestHTTPSSEEventTooLongFailsItsCallAlone(t *testing.T) {
	f := newFakeSSE(t)
	kept := make(chan func(), 1)
	f.call = func(s *sseStream, w http.ResponseWriter, req request) {
		w.WriteHeader(http.StatusAccepted)
		switch req.Params.Name {
		case "keep":
			kept <- func() { s.answer(req.ID, `"kept"`) }
		case "huge":
			s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s"}}`, strings.Repeat("y", 1<<20))
			s.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{"data":"%s"}}`, strings.Repeat("y", 1<<20))
			s.say(`{"jsonrpc":"2.0","result":"%s","id":%s}`, strings.Repeat("x", 1<<20), req.ID)
		}
	}
	u := start(t, Options{Settings: f.settings(), MaxMessageBytes: 1 << 16})
	done := make(chan outcome, 1)
	go func() {
		reply, err := u.Call(context.Background(), toolCall(t, "1", "keep", "1"))
		done <- outcome{reply, err}
	}()
	answer := <-kept
	_, err := u.Call(t.Context(), toolCall(t, "1", "huge", "1"))
	wantError(t, err, Invalid, 0, "max_message_bytes")
	answer()
	if o := <-done; o.err != nil || string(o.reply.Result) != `"kept"` {
		t.Errorf("the other call: %+v", o)
	}
	eventually(t, "its request is refused", func() bool { return strings.Contains(f.got(), `"id":"q","error":{"code":-32600`) })
	if f.sessions() != 1 {
		t.Errorf("%d sessions", f.sessions())
	}
}

func TestHTTPSSECancelIsANotice(t *testing.T) {
	f := newFakeSSE(t)
	came := make(chan struct{}, 1)
	f.call = func(_ *sseStream, w http.ResponseWriter, _ request) {
		w.WriteHeader(http.StatusAccepted)
		came <- struct{}{}
	}
	u := start(t, Options{Settings: f.settings()})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-came
		cancel()
	}()
	if _, err := u.CallWith(ctx, toolCall(t, "1", "x", "1"), CallOptions{Patient: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	eventually(t, "the server is told", func() bool {
		return strings.Contains(f.got(), `"method":"notifications/cancelled","params":{"requestId":2,"reason":"cancelled by the client"}`)
	})
	if f.sessions() != 1 {
		t.Errorf("%d sessions", f.sessions())
	}
}

func TestHTTPSSESendsConfiguredHeaders(t *testing.T) {
	f := newFakeSSE(t)
	var wrong, posts atomic.Int32
	check := func(r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Header.Get("X-Api-Key") != "k" || user != "u" || password != "p" || r.Header.Get("Accept-Encoding") != "" {
			wrong.Add(1)
		}
	}
	f.open = func(_ http.ResponseWriter, r *http.Request) bool {
		check(r)
		return false
	}
	f.post = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
		check(r)
		if version := r.Header.Get("Mcp-Protocol-Version"); (posts.Add(1) == 1) != (version == "") || r.Header.Get("Mcp-Session-Id") != "" {
			wrong.Add(1)
		}
		return false
	}
	s := f.settings()
	s.URL = strings.Replace(s.URL, "http://", "http://u:p@", 1)
	s.Headers = map[string]secret.Text{"x-api-key": secret.New("k")}
	u := start(t, Options{Settings: s})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	if n := wrong.Load(); n > 0 || posts.Load() != 3 {
		t.Errorf("%d of %d requests have the wrong headers", n, posts.Load()+1)
	}
}

func TestHTTPSSEServersOwnRequests(t *testing.T) {
	f := newFakeSSE(t)
	f.call = func(s *sseStream, w http.ResponseWriter, req request) {
		w.WriteHeader(http.StatusAccepted)
		s.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		s.say(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage"}`)
		go func() {
			answered := func() bool {
				return strings.Contains(f.got(), `"id":"q","result":{"sampled":1}`) && strings.Contains(f.got(), `"id":"p","result":{}`)
			}
			if comesTrue(answered) {
				s.answer(req.ID, `1`)
			}
		}()
	}
	u := start(t, Options{Settings: f.settings()})
	reply, err := u.CallWith(t.Context(), toolCall(t, "1", "x", "1"), CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
		return wire.AppendResult(nil, m.ID, []byte(`{"sampled":1}`))
	})})
	if err != nil || string(reply.Result) != `1` {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Stopping ends the stream and all related goroutines, also while the stream is being opened.
func TestHTTPSSEStops(t *testing.T) {
	f := newFakeSSE(t)
	opening := make(chan struct{}, 1)
	f.open = func(w http.ResponseWriter, r *http.Request) bool {
		sse(w)(": wait\n\n")
		opening <- struct{}{}
		<-r.Context().Done()
		return true
	}
	_, stop := startStoppable(t, Options{Settings: f.settings()})
	<-opening
	stop()
	f.open = nil
	u, stop := startStoppable(t, Options{Settings: f.settings()})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	stop()
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "stopped")
}

// A server that refuses the first POST of Streamable HTTP without a JSON-RPC error may be an older
// one.
func TestFallBackToHTTPSSE(t *testing.T) {
	text := func(status int) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "no", status) }
	}
	says := func(status int, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}`
	for _, c := range []struct {
		rule, transport, protocol string
		refuse                    func(w http.ResponseWriter)
		falls                     bool
		status                    int
	}{
		{"404", "", "", text(404), true, 0},
		{"405", TransportHTTP, ProtocolAuto, text(405), true, 0},
		{"400", "", ProtocolLegacy, text(400), true, 0},
		{"400 with other JSON", "", "", says(400, `{"detail":"no"}`), true, 0},
		{"400 in the words of the protocol is meant", "", "", says(400, refusal), false, 400},
		{"404 in the words of the protocol too", "", ProtocolLegacy, says(404, refusal), false, 404},
		{"another status is another matter", "", "", text(500), false, 500},
		{"and so are credentials", "", "", text(401), false, 401},
		{"what is no failure is none", "", "", says(200, `{}`), false, 200},
		{"a modern server has no such thing", "", ProtocolModern, text(404), false, 404},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			f := newFakeSSE(t)
			old := f.Config.Handler
			posts := atomic.Int32{}
			f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && r.URL.Path == "/sse" {
					posts.Add(1)
					c.refuse(w)
					return
				}
				old.ServeHTTP(w, r)
			})
			s := f.settings()
			s.Transport, s.Protocol = c.transport, c.protocol
			u := start(t, Options{Settings: s})
			if !c.falls {
				_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
				wantError(t, err, Invalid, c.status)
				if n := f.sessions(); n != 0 {
					t.Errorf("%d streams were opened", n)
				}
				return
			}
			for range 2 {
				mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
			}
			if st := u.Status(); st.State != Ready || st.Restarts != 0 || st.LastError != "" || st.Protocol != "2024-11-05" {
				t.Errorf("Status = %+v", st)
			}
		})
	}
}

func TestFallBackThatFails(t *testing.T) {
	for _, c := range []struct {
		rule   string
		change func(f *fakeSSE)
		kind   Kind
		status int
		part   string
	}{
		{"a server that is none at all is told by its first answer", func(f *fakeSSE) {
			f.open = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusTeapot)
				return true
			}
		}, Invalid, 405, "HTTP 405"},
		{"one with a stream by what is wrong with that", func(f *fakeSSE) {
			f.endpoint = func(int) string { return "http://elsewhere.example/" }
		}, Invalid, 0, "another origin"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeSSE(t)
			c.change(f)
			s := f.settings()
			s.Transport = ""
			u := start(t, Options{Settings: s})
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, c.kind, c.status, c.part)
		})
	}
}

// The SDK's server over HTTP+SSE, configured explicitly and detected automatically.
func TestRealServerOverHTTPSSE(t *testing.T) {
	for _, c := range []struct{ rule, transport, protocol string }{
		{"by name", TransportSSE, ProtocolAuto},
		{"by name, legacy", TransportSSE, ProtocolLegacy},
		{"found", "", ProtocolAuto},
		{"found, legacy", TransportHTTP, ProtocolLegacy},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			server := sdkServer()
			addAsking(server)
			h := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
			t.Cleanup(func() {
				h.CloseClientConnections()
				h.Close()
			})
			opened := make(chan *Peer, 10)
			u := start(t, Options{
				Settings:       Settings{ID: "sdk", URL: h.URL, Transport: c.transport, Protocol: c.protocol, ResponseTimeout: patience},
				HealthInterval: 50 * time.Millisecond, HealthTimeout: patience,
				Capabilities: []byte(`{"elicitation":{}}`),
				Opened:       func(p *Peer) { opened <- p },
			})
			if p := <-opened; p.ServerName != "sdk-server" || p.Era != era.Legacy {
				t.Errorf("Peer = %+v", p)
			}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					wantText(t, u, toolCall(t, "1", "echo", fmt.Sprintf(`{"text":"é%d"}`, i)), CallOptions{}, fmt.Sprintf("é%d", i))
				})
			}
			wg.Wait()
			ask := message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":"mine"}}}`)
			var progress []string
			wantText(t, u, ask, CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				if m.Kind() == wire.Request {
					return wire.AppendResult(nil, m.ID, []byte(`{"action":"accept","content":{"name":"Ada"}}`))
				}
				progress = append(progress, string(m.ProgressToken()))
				return nil
			})}, "hello Ada")
			if strings.Join(progress, " ") != `"mine"` {
				t.Errorf("progress under %q", progress)
			}
			if reply, err := u.Call(t.Context(), message(t, `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)); err != nil || !strings.Contains(string(reply.Result), `"echo"`) {
				t.Errorf("tools/list: %v, %+v", err, reply)
			}
			h.CloseClientConnections()
			if p := <-opened; p.ServerName != "sdk-server" {
				t.Errorf("Peer = %+v", p)
			}
			wantText(t, u, toolCall(t, "1", "echo", `{"text":"again"}`), CallOptions{}, "again")
		})
	}
}

// addAsking adds a tool that reports progress and asks for a name.
func addAsking(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1})
		if err != nil {
			return nil, nil, err
		}
		got, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?"})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("hello %v", got.Content["name"])}}}, nil, nil
	})
}

// wantText makes a call whose result must be this text.
func wantText(t *testing.T, u *Upstream, req *wire.Message, opt CallOptions, want string) {
	t.Helper()
	reply, err := u.CallWith(t.Context(), req, opt)
	if err != nil {
		t.Error(err)
		return
	}
	var got struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(reply.Result, &got); err != nil || len(got.Content) != 1 || got.Content[0].Text != want {
		t.Errorf("result %s %s, want %q", reply.Result, reply.Error, want)
	}
}
