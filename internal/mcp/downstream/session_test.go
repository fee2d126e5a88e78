package downstream_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

func isClosed(s *fakeSession) bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func TestAnIdleSessionExpires(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		if req.Method == "slow" {
			time.Sleep(time.Hour)
		}
		return result(req, "1")
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		used, idle, listened, busy := h.open(t, "2025-11-25"), h.open(t, "2025-11-25"), h.open(t, "2025-11-25"), h.open(t, "2025-11-25")
		stream := h.ask(t, "GET", "", "", listened)
		go func() { _, _ = io.Copy(io.Discard, stream.Body) }()
		ctx, hangUp := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			hangUp() // the call continues
		}()
		_, _ = h.try(ctx, call(1, "slow"), busy)
		for range 6 {
			time.Sleep(9 * time.Minute)
			text(t, h.ask(t, "POST", "", call(1, "x"), used))
		}
		synctest.Wait()
		for i, c := range []struct {
			rule, session string
			closed        bool
		}{
			{"in use", used, false}, {"idle", idle, true}, {"listened to", listened, false}, {"with a call that runs", busy, false},
		} {
			if got := isClosed(h.sessions()[i]); got != c.closed {
				t.Errorf("%s: closed %v after 54 minutes, want %v", c.rule, got, c.closed)
			}
		}
		if resp := h.ask(t, "POST", "", call(1, "x"), idle); resp.StatusCode != http.StatusNotFound {
			t.Errorf("an expired session: %d", resp.StatusCode)
		}
		stream.Body.Close()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		for i, s := range h.sessions() {
			if !isClosed(s) {
				t.Errorf("session %d is still open", i)
			}
		}
	})
}

// A shorter idle timeout holds for sessions that are open already.
func TestAShorterIdleTimeoutEndsOpenSessions(t *testing.T) {
	inBubble(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return result(req, "1")
	}}, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if isClosed(h.sessions()[0]) {
			t.Fatal("closed after two minutes")
		}
		h.SetIdleTimeout(time.Minute)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !isClosed(h.sessions()[0]) {
			t.Error("a session that was idle for two minutes stays open with a timeout of one")
		}
		if resp := h.ask(t, "POST", "", call(1, "x"), session); resp.StatusCode != http.StatusNotFound {
			t.Errorf("status %d, want 404", resp.StatusCode)
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	h := build(t, &brain{}, func(o *downstream.HTTPOptions) { o.MaxSessions = 2 })
	for range 3 { // a refused one takes no slot
		h.ask(t, "POST", "", initialize("2025-06-18"), nobody)
	}
	first := h.open(t, "2025-06-18")
	h.open(t, "2025-06-18")
	resp := h.ask(t, "POST", "", initialize("2025-06-18"))
	if body := text(t, resp); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `"id":0,"error"`) {
		t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
	}
	if resp := h.ask(t, "GET", "", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("HTTP+SSE: %d", resp.StatusCode)
	}
	h.ask(t, "DELETE", "", "", first)
	h.open(t, "2025-06-18")
	if len(h.sessions()) != 6 {
		t.Errorf("%d sessions were opened, want none beyond the bound", len(h.sessions()))
	}
}

func TestRequestsWaitForTheirTurn(t *testing.T) {
	var running, most atomic.Int64
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(time.Millisecond)
		running.Add(-1)
		return result(req, "1")
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-06-18")
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				if resp := h.ask(t, "POST", "", call(i, "x"), session); resp.StatusCode != http.StatusOK {
					t.Errorf("%d", resp.StatusCode)
				}
			})
		}
		all.Wait()
		if most.Load() != 3 {
			t.Errorf("%d ran at once, want 3", most.Load())
		}
	}, func(o *downstream.HTTPOptions) { o.MaxInFlight = 3 })
}

func TestWhoWaitsForATurnMayGo(t *testing.T) {
	var begun atomic.Int64
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		begun.Add(1)
		time.Sleep(time.Minute)
		return result(req, "1")
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-06-18")
		var first sync.WaitGroup
		first.Go(func() { text(t, h.ask(t, "POST", "", call(1, "x"), session)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.try(ctx, call(2, "x"), session); err == nil {
			t.Error("answered out of turn")
		}
		first.Wait()
		time.Sleep(time.Hour)
		if n := begun.Load(); n != 1 {
			t.Errorf("%d requests were begun, one of a client that had gone", n)
		}
	}, func(o *downstream.HTTPOptions) { o.MaxInFlight = 1 })
}

// idler is a server whose sessions do nothing.
type idler struct{ closed atomic.Int64 }

func (s *idler) Open(downstream.Opening) downstream.Session { return s }
func (s *idler) Stateless() downstream.Session              { return s }
func (s *idler) Handle(_ context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	return result(req, `{"protocolVersion":"2025-06-18"}`)
}
func (s *idler) Notify(context.Context, *wire.Message, downstream.Exchange) {}
func (s *idler) Respond(context.Context, *wire.Message)                     {}
func (s *idler) Close()                                                     { s.closed.Add(1) }

func TestManySessionsComeAndGo(t *testing.T) {
	const many = 10_000
	server := &idler{}
	opt := options(nil)
	opt.Server = func(string, string) (downstream.Server, error) { return server, nil }
	h := downstream.NewHTTP(opt)
	memory := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	ids := make([]string, 0, many)
	record(h, initialize("2025-06-18"), "")
	goroutines, before := runtime.NumGoroutine(), memory()
	for range many {
		ids = append(ids, record(h, initialize("2025-06-18"), "").Header().Get("Mcp-Session-Id"))
	}
	each := (memory() - before) / many
	t.Logf("an idle session holds %d bytes", each)
	if each > 2048 {
		t.Errorf("an idle session holds %d bytes, want less than 2 KB", each)
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines for idle sessions", n-goroutines)
	}
	for _, id := range ids {
		if code := remove(h, id); code != 204 {
			t.Fatalf("DELETE: %d", code)
		}
	}
	clear(ids)
	if left := memory() - before; left > 200_000 {
		t.Errorf("%d bytes are left", left)
	}
	if err := h.Close(t.Context()); err != nil || server.closed.Load() != many+1 {
		t.Errorf("Close: %v, %d sessions closed of %d", err, server.closed.Load(), many+1)
	}
}

func TestASessionThatItsClientNeverHeardOfEnds(t *testing.T) {
	inBubble(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return result(req, "1")
	}}, func(h *house) {
		ctx, cancel := context.WithTimeout(h.t.Context(), time.Second)
		defer cancel()
		slow := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","slow":true}}`
		if _, err := h.try(ctx, slow); err == nil {
			h.t.Error("answered too soon")
		}
		began := time.Now()
		<-h.sessions()[0].closed
		if took := time.Since(began); took > time.Minute {
			h.t.Errorf("ended after %v", took)
		}
	})
}

func TestNotificationsComeOneAtATime(t *testing.T) {
	var inside atomic.Int64
	h := build(t, &brain{notify: func(context.Context, *fakeSession, *wire.Message, downstream.Exchange) {
		if inside.Add(1) > 1 {
			t.Error("two at once")
		}
		time.Sleep(time.Millisecond)
		inside.Add(-1)
	}})
	session := h.open(t, "2025-06-18")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { h.ask(t, "POST", "", note("x"), session) })
	}
	all.Wait()
}

// If one caller abandons many sessions, only a few stay open for long. They hold servers'
// per-session resources.
func TestAbandonedSessionsOfOneCallerAreFew(t *testing.T) {
	inBubble(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return result(req, "1")
	}}, func(h *house) {
		t := h.t
		for range 100 {
			h.open(t, "2025-11-25", mine)
		}
		for range 10 {
			h.open(t, "2025-11-25", yours)
		}
		time.Sleep(4 * time.Minute)
		used := h.open(t, "2025-11-25", mine)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		open := map[string]int{}
		for _, s := range h.sessions() {
			if !isClosed(s) {
				open[s.Opening.Principal.Subject]++
			}
		}
		if open["mine"] != 65 || open["yours"] != 10 {
			t.Errorf("after 6 minutes %v are open, want 64 of 100 and the one in use, and all 10 of another", open)
		}
		if resp := h.ask(t, "POST", "", call(1, "x"), mine, used); resp.StatusCode != http.StatusOK {
			t.Errorf("the newest: %d", resp.StatusCode)
		}
	})
}
