package downstream_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// openPlain opens an HTTP+SSE session. It returns its stream and the address for POSTs, relative to
// the house's.
func (h *house) openPlain(ctx context.Context, t *testing.T, path string, header ...string) (*events, string) {
	t.Helper()
	resp := h.askWith(ctx, t, "GET", path, "", header...)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET: %d %s", resp.StatusCode, text(t, resp))
	}
	all := eventsOf(resp.Body)
	ev := all.must(t)
	to, ok := strings.CutPrefix(ev.data, "/mcp")
	if ev.name != "endpoint" || !ok || !strings.HasPrefix(to, path+"?sessionId=") {
		t.Fatalf("first event %+v", ev)
	}
	return all, to
}

func TestHTTPAndSSE(t *testing.T) {
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		x.Send([]byte(note("first")))
		return result(req, fmt.Sprintf(`"streams %v"`, x.Streams()))
	}})
	for _, path := range []string{"", "/one"} {
		ctx, hangUp := context.WithCancel(t.Context())
		all, to := h.openPlain(ctx, t, path)
		post := func(body string, want int, header ...string) {
			t.Helper()
			if resp := h.ask(t, "POST", to, body, header...); resp.StatusCode != want {
				t.Errorf("%s: %d %s, want %d", body, resp.StatusCode, text(t, resp), want)
			}
		}
		post(initialize("2024-11-05"), 202)
		if ev := all.must(t); ev.name != "message" || ev.id != "" || !strings.Contains(ev.data, `"protocolVersion":"2024-11-05"`) {
			t.Errorf("answer to initialize: %+v", ev)
		}
		post(note("notifications/initialized"), 202)
		post(call(`"a"`, "x"), 202)
		if ev := all.must(t); ev.data != note("first") {
			t.Errorf("%+v", ev)
		}
		if ev := all.must(t); ev.data != `{"jsonrpc":"2.0","id":"a","result":"streams true"}` {
			t.Errorf("%+v", ev)
		}
		post(`{`, 400)
		post(`[`+call(1, "x")+`]`, 400)
		post(call(1, "x"), 400, "Mcp-Protocol-Version: x")
		s := h.sessions()[len(h.sessions())-1]
		s.Link.Send([]byte(note("by itself")))
		if ev := all.must(t); ev.data != note("by itself") {
			t.Errorf("%+v", ev)
		}
		if got := s.saw(); got != "notifications/initialized" {
			t.Errorf("saw %s", got)
		}
		if resp := h.ask(t, "POST", strings.Replace(to, path, "", 1), call(1, "x")); path != "" && resp.StatusCode != http.StatusNotFound {
			t.Errorf("in another scope: %d", resp.StatusCode)
		}
		id := "Mcp-Session-Id: " + strings.TrimPrefix(to, path+"?sessionId=")
		if resp := h.ask(t, "POST", path, call(1, "x"), id); resp.StatusCode != http.StatusNotFound {
			t.Errorf("as a session of another transport: %d", resp.StatusCode)
		}
		hangUp()
		within(t, "the end of a session whose stream ended", s.closed)
		post(call(1, "x"), 404)
	}
}

func TestWhoeverTakesAnythingGetsAStream(t *testing.T) {
	h := build(t, &brain{})
	for _, accept := range []string{"*/*", "application/json, */*;q=0.5"} {
		h.openPlain(t.Context(), t, "", "Accept: "+accept)
		if resp := h.ask(t, "GET", "", "", h.open(t, "2025-06-18"), "Accept: "+accept); resp.StatusCode != http.StatusOK {
			t.Errorf("Accept %s within a session: %d", accept, resp.StatusCode)
		}
	}
}

func TestASessionOfAnotherTransportIsNotOneOfHTTPAndSSE(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-06-18")
	if resp := h.ask(t, "POST", "?sessionId="+strings.TrimPrefix(session, "Mcp-Session-Id: "), call(1, "x")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestAnswersWaitForASlowReader(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return result(req, `"`+strings.Repeat("x", 100_000)+`"`)
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		all, to := h.openPlain(t.Context(), t, "")
		const many = 50 // five times the limit
		for i := range many {
			if resp := h.ask(t, "POST", to, call(i, "x")); resp.StatusCode != http.StatusAccepted {
				t.Fatalf("request %d: %d", i, resp.StatusCode)
			}
		}
		synctest.Wait()
		got := map[string]bool{}
		for range many {
			ev := all.must(t)
			id, _, _ := strings.Cut(strings.TrimPrefix(ev.data, `{"jsonrpc":"2.0","id":`), ",")
			got[id] = true
			time.Sleep(10 * time.Second)
		}
		if len(got) != many {
			t.Errorf("%d answers of %d", len(got), many)
		}
	})
}

func TestAReaderThatStopsEndsItsSession(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return result(req, `"`+strings.Repeat("x", 100_000)+`"`)
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		_, to := h.openPlain(t.Context(), t, "")
		for i := range 20 {
			h.ask(t, "POST", to, call(i, "x"))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case <-h.sessions()[0].closed:
		default:
			t.Error("the session is still open")
		}
	})
}
