package downstream_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// record serves a message without a network.
func record(h http.Handler, body, session string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func remove(h http.Handler, session string) int {
	r := httptest.NewRequest(http.MethodDelete, "/mcp", http.NoBody)
	r.Header.Set("Mcp-Session-Id", session)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// sleeper takes ten seconds for a request, and listens until it is stopped.
func sleeper() *brain {
	return &brain{handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		x.Send([]byte(note("begun")))
		limit := 10 * time.Second
		if req.Method == "subscriptions/listen" {
			limit = time.Hour
		}
		select {
		case <-ctx.Done():
			return result(req, `"cancelled"`)
		case <-time.After(limit):
			return result(req, `"done"`)
		}
	}}
}

func TestClose(t *testing.T) {
	for _, c := range []struct {
		rule string
		wait time.Duration // how long Close may take
		took time.Duration
		want string // the outcome of the requests
	}{
		{"what runs has its time", time.Minute, 10 * time.Second, "done"},
		{"and no more", time.Second, time.Second, "cancelled"},
		{"or none", 0, 0, "cancelled"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			inBubble(t, sleeper(), func(h *house) {
				t := h.t
				busy, idle := h.open(t, "2025-11-25"), h.open(t, "2025-11-25")
				standing := h.ask(t, "GET", "", "", idle)
				attended := h.ask(t, "GET", "", "", busy)
				plain, _ := h.openPlain(t.Context(), t, "")
				listening := h.ask(t, "POST", "", call(1, "subscriptions/listen"), modern)
				legacy := h.ask(t, "POST", "", call(1, "x"), busy)
				stateless := h.ask(t, "POST", "", call(1, "x"), modern)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.wait)
				defer cancel()
				closed := make(chan error)
				go func() { closed <- h.Close(ctx) }()
				eventsOf(standing.Body).rest(t)
				plain.rest(t)
				if got := eventsOf(listening.Body).rest(t); len(got) != 2 || !strings.Contains(got[1], "cancelled") {
					t.Errorf("what only listens: %q", got)
				}
				if time.Since(began) != 0 {
					t.Errorf("what only listens ended after %v", time.Since(began))
				}
				if c.wait > 0 {
					if resp := h.ask(t, "POST", "", call(1, "x"), modern); resp.StatusCode != http.StatusServiceUnavailable {
						t.Errorf("a new request: %d", resp.StatusCode)
					}
				}
				for _, resp := range []*http.Response{legacy, stateless} {
					if got := eventsOf(resp.Body).rest(t); len(got) != 2 || !strings.Contains(got[1], c.want) {
						t.Errorf("%q, want %s", got, c.want)
					}
				}
				eventsOf(attended.Body).rest(t)
				if err := <-closed; err != nil || time.Since(began) != c.took {
					t.Errorf("Close: %v after %v, want %v", err, time.Since(began), c.took)
				}
				synctest.Wait()
				for i, s := range h.sessions() {
					if !isClosed(s) {
						t.Errorf("session %d is open", i)
					}
				}
			})
		})
	}
}

func TestCloseTellsOfWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := downstream.NewHTTP(options(&brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
			time.Sleep(time.Hour) // ignores its context
			return result(req, "1")
		}}))
		session := record(h, initialize("2025-06-18"), "").Header().Get("Mcp-Session-Id")
		go record(h, call(1, "x"), session)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Close(ctx); err == nil {
			t.Error("nothing said about a request that goes on")
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestASessionEndsWithItsLastCallOnceAllIsClosing(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		if req.Method == "short" {
			time.Sleep(5 * time.Second)
		} else {
			time.Sleep(20 * time.Second)
		}
		return result(req, "1")
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		began := time.Now()
		for _, method := range []string{"short", "long"} {
			session := h.open(t, "2025-06-18")
			go func() { text(t, h.ask(t, "POST", "", call(1, method), session)) }()
		}
		synctest.Wait()
		go func() { _ = h.Close(t.Context()) }()
		<-h.sessions()[0].closed
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("ended after %v, want with its own call", took)
		}
		<-h.sessions()[1].closed
	})
}
