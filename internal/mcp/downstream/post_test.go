package downstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

const modern = "Mcp-Protocol-Version: 2026-07-28"

func TestPost(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-06-18")
	other := strings.Replace(session, ": ", ": x", 1)
	meta := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	for _, c := range []struct {
		rule, path, body string
		header           []string
		status           int
		want             string // expected in the body
	}{
		{"a request in its session", "", call(1, "ping"), []string{session}, 200, `{"jsonrpc":"2.0","id":1,"result":{"echo":"ping"}}`},
		{"a request without its session", "", call(7, "ping"), nil, 400, `"id":7,"error":{"code":-32600`},
		{"a request with a session that never was", "", call(7, "ping"), []string{other}, 404, `"id":7,"error":{"code":-32600`},
		{"a request with another scope's session", "/one", call(7, "ping"), []string{session}, 404, `"id":7`},
		{"initialize does not look at a session", "", initialize("2025-03-26"), []string{other}, 200, `"protocolVersion":"2025-03-26"`},
		{"initialize does not look at a modern header", "", initialize("2025-03-26"), []string{modern}, 200, `"protocolVersion":"2025-03-26"`},
		{"a notification", "", note("notifications/x"), []string{session}, 202, ``},
		{"a notification without its session", "", note("notifications/x"), nil, 400, `"id":null`},
		{"a response", "", `{"jsonrpc":"2.0","id":"q","result":{}}`, []string{session}, 202, ``},
		{"a modern request by its header", "", call(1, "tools/list"), []string{modern}, 200, `"echo":"tools/list"`},
		{"a modern request by its meta", "", meta, nil, 200, `"echo":"tools/list"`},
		{"a modern request does not look at a session", "", call(1, "x"), []string{modern, other}, 200, `"echo":"x"`},
		{"a modern notification", "", note("notifications/x"), []string{modern}, 202, ``},
		{"a modern response", "", `{"jsonrpc":"2.0","id":"q","result":{}}`, []string{modern}, 400, `"id":"q","error":{"code":-32600`},
		{"a server that is not known", "/two", call(5, "ping"), []string{modern}, 404, `"id":5,"error":{"code":-32013,"message":"unknown server \"two\"; known are one"`},
		{"a version that is not known", "", call(5, "ping"), []string{"Mcp-Protocol-Version: 2027-01-01"}, 400, `"supported":["2026-07-28","2025-11-25"`},
		{"a version that is not known, with initialize", "", initialize("2025-06-18"), []string{"Mcp-Protocol-Version: x"}, 400, `-32022`},
		{"another known version than the session's", "", call(1, "ping"), []string{session, "Mcp-Protocol-Version: 2025-03-26"}, 200, `echo`},
		{"no JSON", "", `{`, []string{session}, 400, `"id":null,"error":{"code":-32700`},
		{"nothing", "", ``, []string{session}, 400, `-32700`},
		{"no JSON-RPC", "", `{"id":3}`, []string{session}, 400, `"id":3,"error":{"code":-32600`},
		{"a batch outside any session", "", `[` + call(1, "x") + `]`, nil, 400, `-32600`},
		{"a batch in a session without batches", "", `[` + call(1, "x") + `]`, []string{session}, 400, `2025-03-26`},
		{"too much", "", `"` + strings.Repeat("x", 1<<20) + `"`, []string{session}, 413, `-32600`},
		{"another type of content", "", call(1, "x"), []string{session, "Content-Type: text/plain"}, 415, `-32600`},
		{"no type of content", "", call(1, "x"), []string{session, "Content-Type: "}, 200, `echo`},
		{"a type of content with a charset", "", call(1, "x"), []string{session, "Content-Type: Application/JSON; charset=utf-8"}, 200, `echo`},
		{"neither JSON nor a stream", "", call(4, "x"), []string{session, "Accept: text/html"}, 406, `"id":4`},
		{"a notification from one who wants neither", "", note("x"), []string{session, "Accept: text/html"}, 202, ``},
		{"anything", "", call(1, "x"), []string{session, "Accept: */*"}, 200, `echo`},
	} {
		resp := h.ask(t, http.MethodPost, c.path, c.body, c.header...)
		body := text(t, resp)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) || c.want == "" && body != "" {
			t.Errorf("%s: %d %s, want %d with %s", c.rule, resp.StatusCode, body, c.status, c.want)
		}
		if body != "" && resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: Content-Type %q", c.rule, resp.Header.Get("Content-Type"))
		}
	}
}

func TestAModernInitializeOpensNothing(t *testing.T) {
	h := build(t, &brain{})
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	resp := h.ask(t, "POST", "", body, modern)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" || len(h.sessions()) != 0 {
		t.Errorf("session %q, %d opened", id, len(h.sessions()))
	}
}

func TestOtherMethods(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-06-18")
	for _, c := range []struct {
		rule, method, path string
		header             []string
		status             int
		allow              string
	}{
		{"no such method", "PUT", "", nil, 405, "POST, GET, DELETE"},
		{"HEAD", "HEAD", "", nil, 405, "POST, GET, DELETE"},
		{"a modern GET", "GET", "", []string{modern}, 405, "POST"},
		{"a modern DELETE", "DELETE", "", []string{modern, session}, 405, "POST"},
		{"a GET that takes no stream", "GET", "", []string{session, "Accept: application/json"}, 406, ""},
		{"a GET of a browser's address bar", "GET", "", []string{session, "Accept: text/html,application/xhtml+xml,*/*;q=0.8"}, 406, ""},
		{"a GET that says nothing", "GET", "", []string{session, "Accept: "}, 406, ""},
		{"a GET with a session that never was", "GET", "", []string{session + "x"}, 404, ""},
		{"a GET at a server that is not known", "GET", "/two", nil, 404, ""},
		{"a GET behind an event that never was", "GET", "", []string{session, "Last-Event-ID: 0-1"}, 400, ""},
		{"a GET behind an event of no stream", "GET", "", []string{session, "Last-Event-ID: 99-1"}, 400, ""},
		{"a GET behind no event", "GET", "", []string{session, "Last-Event-ID: x"}, 400, ""},
		{"a DELETE without a session", "DELETE", "", nil, 400, ""},
		{"a DELETE with a session that never was", "DELETE", "", []string{session + "x"}, 404, ""},
		{"a DELETE with another scope's session", "DELETE", "/one", []string{session}, 404, ""},
		{"a version that is not known", "DELETE", "", []string{session, "Mcp-Protocol-Version: x"}, 400, ""},
		{"a DELETE", "DELETE", "", []string{session}, 204, ""},
		{"a DELETE once more", "DELETE", "", []string{session}, 404, ""},
	} {
		resp := h.ask(t, c.method, c.path, "", c.header...)
		if resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
			t.Errorf("%s: %d, Allow %q, want %d, %q: %s", c.rule, resp.StatusCode, resp.Header.Get("Allow"), c.status, c.allow, text(t, resp))
		}
	}
	within(t, "the session's end", h.sessions()[0].closed)
}

func TestARefusedInitializeOpensNothing(t *testing.T) {
	for rule, answer := range map[string]func(*wire.Message) downstream.Answer{
		"refused":    func(req *wire.Message) downstream.Answer { return refused(req, 401) },
		"no version": func(req *wire.Message) downstream.Answer { return result(req, `{}`) },
		"an error": func(req *wire.Message) downstream.Answer {
			return downstream.Answer{Body: wire.InvalidParams("", "x").AppendResponse(nil, req.ID)}
		},
		"no response": func(*wire.Message) downstream.Answer { return downstream.Answer{Body: []byte(`{}`)} },
		"a panic":     func(*wire.Message) downstream.Answer { panic("on purpose") },
	} {
		t.Run(rule, func(t *testing.T) {
			s := &refusing{closed: make(chan struct{}), answer: answer}
			h := build(t, &brain{}, func(o *downstream.HTTPOptions) {
				o.Server = func(string, string) (downstream.Server, error) { return s, nil }
			})
			resp := h.ask(t, "POST", "", initialize("2025-06-18"))
			if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
				t.Errorf("session %q", id)
			}
			within(t, "Close", s.closed)
		})
	}
}

// refusing is a server with one session, which answers initialize in its own way.
type refusing struct {
	downstream.Session
	closed chan struct{}
	answer func(*wire.Message) downstream.Answer
}

func (s *refusing) Open(downstream.Opening) downstream.Session { return s }
func (s *refusing) Stateless() downstream.Session              { return s }
func (s *refusing) Close()                                     { close(s.closed) }
func (s *refusing) Handle(_ context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	return s.answer(req)
}

func TestEachRequestGetsItsOwnAnswer(t *testing.T) {
	var release sync.WaitGroup
	release.Add(20)
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		release.Done()
		release.Wait() // all run concurrently
		return result(req, `"`+req.Method+`"`)
	}})
	session := h.open(t, "2025-06-18")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			method := fmt.Sprintf("m%d", i)
			if body := text(t, h.ask(t, "POST", "", call(1, method), session)); !strings.Contains(body, `"result":"`+method+`"`) {
				t.Errorf("answer to %s: %s", method, body)
			}
		})
	}
	all.Wait()
}

func TestMessagesComeInTheirOrder(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-06-18")
	var want []string
	for i := range 50 {
		method := fmt.Sprintf("n%d", i)
		want = append(want, method)
		h.ask(t, "POST", "", note(method), session)
		if i%10 == 0 {
			want = append(want, fmt.Sprintf("response %d", i))
			h.ask(t, "POST", "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":1}`, i), session)
		}
	}
	if got := h.sessions()[0].saw(); got != strings.Join(want, " ") {
		t.Errorf("saw %s", got)
	}
}

func TestAnswerHasItsStatusAndHeader(t *testing.T) {
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return downstream.Answer{Body: result(req, "1").Body, Status: 404, Header: http.Header{"X-Some": {"thing"}}, Stream: true}
	}})
	resp := h.ask(t, "POST", "", call(1, "x"), modern)
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("X-Some") != "thing" || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}

func TestAFaultEndsTheRequestAlone(t *testing.T) {
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		if req.Method == "late" {
			x.Send([]byte(note("first")))
		}
		panic("on purpose")
	}})
	session := h.open(t, "2025-06-18")
	for _, method := range []string{"soon", "late"} {
		if body := text(t, h.ask(t, "POST", "", call(1, method), session)); !strings.Contains(body, "-32603") {
			t.Errorf("%s: %s", method, body)
		}
	}
}

func TestWhatIsKnownOfAMessage(t *testing.T) {
	type known struct {
		header, principal string
		streams, sent     bool
		address           bool // the context has the values of the HTTP request's
	}
	var got known
	look := func(ctx context.Context, x downstream.Exchange) {
		who := ""
		if p := x.Principal(); p != nil {
			who = p.Subject
		}
		got = known{x.Header().Get("X-Some"), who, x.Streams(), false, ctx.Value(http.LocalAddrContextKey) != nil}
	}
	h := build(t, &brain{
		handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
			look(ctx, x)
			return result(req, "1")
		},
		notify: func(ctx context.Context, _ *fakeSession, _ *wire.Message, x downstream.Exchange) {
			look(ctx, x)
			got.sent = x.Send([]byte(note("n")))
		},
	})
	session := h.open(t, "2025-06-18", mine)
	for _, c := range []struct {
		rule, body string
		header     []string
		want       known
	}{
		{"a request", call(1, "x"), []string{session, mine}, known{"thing", "mine", true, false, true}},
		{"a request of one who takes JSON", call(1, "x"), []string{session, mine, "Accept: application/json"}, known{"thing", "mine", false, false, true}},
		{"a request of nobody", call(1, "x"), []string{session, nobody}, known{"thing", "", true, false, true}},
		{"a modern request", call(1, "x"), []string{modern, yours}, known{"thing", "yours", true, false, true}},
		{"a notification", note("x"), []string{session, mine}, known{"thing", "mine", false, false, true}},
		{"a modern notification", note("x"), []string{modern, mine}, known{"thing", "mine", false, false, true}},
	} {
		h.ask(t, "POST", "", c.body, append(c.header, "X-Some: thing")...)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, got, c.want)
		}
	}
}

func TestACallsContextEndsWithItsSessionHoweverItIsDerived(t *testing.T) {
	var goroutines int
	started, ended := make(chan struct{}), make(chan error, 1)
	h := build(t, &brain{handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		before := runtime.NumGoroutine()
		for range 100 {
			_, cancel := context.WithCancel(ctx)
			defer cancel()
		}
		goroutines = runtime.NumGoroutine() - before
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return result(req, "1")
	}})
	session := h.open(t, "2025-06-18")
	var asking sync.WaitGroup
	asking.Go(func() { h.ask(t, "POST", "", call(1, "x"), session) })
	<-started
	h.ask(t, "DELETE", "", "", session)
	asking.Wait()
	if err := <-ended; !errors.Is(err, context.Canceled) || goroutines > 20 {
		t.Errorf("%v, with %d more goroutines for contexts", err, goroutines)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		session := h.open(t, "2025-06-18")
		h.ask(t, "GET", "", "", session)
		h.ask(t, "POST", "", call(1, "x"))
		synctest.Wait() // an answer is counted once it is written
		want := map[string]float64{
			"secateur_mcp_http_sessions": 1, "secateur_mcp_http_streams": 1, "secateur_mcp_http_answers_total": 1, "secateur_mcp_http_refused_total": 1,
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			m := f.GetMetric()[0]
			if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != want[f.GetName()] {
				t.Errorf("%s = %v, want %v", f.GetName(), got, want[f.GetName()])
			}
			delete(want, f.GetName())
		}
		if len(want) > 0 {
			t.Errorf("not there: %v", want)
		}
	}, func(o *downstream.HTTPOptions) { o.Metrics = reg })
}

func FuzzPost(f *testing.F) {
	f.Add(call(1, "x"), "application/json, text/event-stream", "", "2025-03-26", "")
	f.Add(`[`+call(1, "x")+`,`+note("n")+`]`, "application/json", "", "2025-03-26", "sessionId=x")
	f.Add(initialize("2025-11-25"), "text/event-stream", "2025-11-25", "2025-11-25", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, "*/*", "2026-07-28", "", "sessionId=")
	f.Fuzz(func(t *testing.T, body, accept, version, agreed, query string) {
		h := downstream.NewHTTP(options(&brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
			x.Send(req.Raw)
			return streamed(result(req, "1"))
		}}))
		session := ""
		if quoted, err := json.Marshal(agreed); err == nil {
			opening := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":` + string(quoted) + `}}`
			session = record(h, opening, "").Header().Get("Mcp-Session-Id")
		}
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header = http.Header{"Accept": {accept}, "Mcp-Protocol-Version": {version}, "Mcp-Session-Id": {session}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch got := w.Body.Bytes(); {
		case w.Code == http.StatusAccepted && len(got) > 0, w.Code != http.StatusAccepted && len(got) == 0:
			t.Errorf("%d with %q", w.Code, got)
		case w.Header().Get("Content-Type") == "application/json" && !json.Valid(got):
			t.Errorf("%d %q is no JSON", w.Code, got)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
