package downstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

func TestWhatComesBeforeTheAnswerMakesAStream(t *testing.T) {
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		sent := x.Send([]byte("{\n\"jsonrpc\":\"2.0\",\r\n\"method\":\"first\"}"))
		return result(req, fmt.Sprintf(`"sent %v, streams %v"`, sent, x.Streams()))
	}})
	for _, c := range []struct {
		rule, version, accept string
		want                  []event // nil: JSON
	}{
		{"the revision with priming events", "2025-11-25", "application/json, text/event-stream", []event{
			{id: "1-0", retry: "1000"},
			{name: "message", id: "1-1", data: `{ "jsonrpc":"2.0",  "method":"first"}`},
			{name: "message", id: "1-2", data: `{"jsonrpc":"2.0","id":1,"result":"sent true, streams true"}`},
		}},
		{"a revision without them", "2025-06-18", "text/event-stream", []event{
			{name: "message", id: "1-1", data: `{ "jsonrpc":"2.0",  "method":"first"}`},
			{name: "message", id: "1-2", data: `{"jsonrpc":"2.0","id":1,"result":"sent true, streams true"}`},
		}},
		{"the modern era, which comes back to nothing", "", "application/json, text/event-stream;q=0.5", []event{
			{name: "message", data: `{ "jsonrpc":"2.0",  "method":"first"}`},
			{name: "message", data: `{"jsonrpc":"2.0","id":1,"result":"sent true, streams true"}`},
		}},
		{"a client that takes JSON only", "2025-11-25", "application/json", nil},
		{"a client that takes no stream", "2025-11-25", "application/json, text/event-stream;q=0", nil},
	} {
		header := []string{modern, "Accept: " + c.accept}
		if c.version != "" {
			header[0] = h.open(t, c.version)
		}
		resp := h.ask(t, "POST", "", call(1, "x"), header...)
		if c.want == nil {
			if body := text(t, resp); !strings.Contains(body, "sent false, streams false") || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s", c.rule, body)
			}
			continue
		}
		var got []event
		for all := eventsOf(resp.Body); ; {
			ev, err := all.next()
			if err != nil {
				break
			}
			got = append(got, ev)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.rule, got, c.want)
		}
		if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" || resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: header %v", c.rule, resp.Header)
		}
	}
}

func TestAnAnswerThatIsToBeAStream(t *testing.T) {
	long := strings.Repeat("long ", 20_000)
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		if req.Method == "long" {
			return streamed(result(req, `"`+long+`"`))
		}
		return streamed(result(req, "{\n}"))
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		for _, c := range []struct {
			rule, method string
			header       []string
			want         string
		}{
			{"a client that takes one", "x", []string{session}, "id: 1-0\nretry: 1000\ndata:\n\nevent: message\nid: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ }}\n\n"},
			{"the modern era", "x", []string{modern}, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ }}\n\n"},
			{"a long one", "long", []string{session}, "id: 2-0\nretry: 1000\ndata:\n\nevent: message\nid: 2-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + long + "\"}\n\n"},
			{"a long one, modern", "long", []string{modern}, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + long + "\"}\n\n"},
			{"a client that takes JSON only", "x", []string{modern, "Accept: application/json"}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n}}"},
			{"a client that says nothing", "x", []string{modern, "Accept: "}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n}}"},
		} {
			resp := h.ask(t, "POST", "", call(1, c.method), c.header...)
			if got := text(t, resp); got != c.want {
				t.Errorf("%s: %.200q, want %.200q", c.rule, got, c.want)
			}
			if resp.ContentLength != int64(len(c.want)) {
				t.Errorf("%s: told %d bytes of %d", c.rule, resp.ContentLength, len(c.want))
			}
		}
	})
}

func TestReleaseComesOnceEach(t *testing.T) {
	var released atomic.Int64
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		size := 10
		if strings.HasPrefix(req.Method, "long") {
			size = 50_000
		}
		a := streamed(result(req, `"`+strings.Repeat("x", size)+`"`))
		a.Release = func() { released.Add(1) }
		if strings.HasSuffix(req.Method, "sent") {
			x.Send([]byte(note("n")))
		}
		return a
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		for _, method := range []string{"long whole", "long sent", "whole", "sent"} {
			text(t, h.ask(t, "POST", "", call(1, method), modern))
			text(t, h.ask(t, "POST", "", call(1, method), session))
			text(t, h.ask(t, "POST", "", call(1, method), session, "Accept: application/json"))
		}
		all, to := h.openPlain(t.Context(), t, "")
		for _, method := range []string{"long", "short"} {
			h.ask(t, "POST", to, call(1, method))
			all.must(t)
		}
		time.Sleep(2 * time.Minute) // until nothing is kept
		synctest.Wait()
		if n := released.Load(); n != 14 {
			t.Errorf("released %d answers of 14", n)
		}
	})
}

func TestSilenceIsBroken(t *testing.T) {
	b := &brain{}
	b.handle = func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		time.Sleep(50 * time.Second)
		return result(req, "1")
	}
	inBubble(t, b, func(h *house) {
		t := h.t
		began := time.Now()
		session := h.open(t, "2025-11-25")
		resp := h.ask(t, "POST", "", call(1, "x"), session)
		primed := time.Since(began)
		if primed > time.Second {
			t.Errorf("the header came after %v, want it soon: from then on nothing is lost with the connection", primed)
		}
		all := eventsOf(resp.Body)
		if ev := all.must(t); ev.id != "1-0" || ev.retry == "" {
			t.Errorf("first event %+v, want a priming one", ev)
		}
		for i := range 3 {
			if ev := all.must(t); ev.comment != "keep-alive" {
				t.Errorf("event %+v, want a comment", ev)
			}
			if took := time.Since(began); took != primed+time.Duration(i+1)*15*time.Second {
				t.Errorf("comment %d after %v", i, took)
			}
		}
		if ev := all.must(t); !strings.Contains(ev.data, `"result":1`) || time.Since(began) != 50*time.Second {
			t.Errorf("%+v after %v", ev, time.Since(began))
		}
	})
}

func TestAJSONAnswerMayBeLate(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		time.Sleep(time.Hour)
		return result(req, "1")
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		if got := text(t, h.ask(t, "POST", "", call(1, "x"), modern, "Accept: */*")); !strings.Contains(got, `"result":1`) {
			t.Error(got)
		}
	})
}

func TestHangingUpCancelsAModernRequestAndNoOther(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan error, 1)
	release := make(chan struct{})
	h := build(t, &brain{handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		started <- struct{}{}
		select {
		case <-ctx.Done():
		case <-release:
		}
		ended <- ctx.Err()
		return result(req, "1")
	}})
	for _, c := range []struct {
		rule   string
		header string
		cancel bool
	}{
		{"modern", modern, true},
		{"legacy", h.open(t, "2025-06-18"), false},
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		go func() {
			<-started
			hangUp()
		}()
		if resp, err := h.try(ctx, call(1, "x"), c.header); err == nil {
			t.Errorf("%s: %d", c.rule, resp.StatusCode)
		}
		if c.cancel {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: context: %v", c.rule, err)
			}
			continue
		}
		select {
		case err := <-ended:
			t.Errorf("%s: ended with %v", c.rule, err)
		case <-time.After(50 * time.Millisecond): // long enough to see that nothing happens
		}
		close(release)
		if err := <-ended; err != nil {
			t.Errorf("%s: context: %v", c.rule, err)
		}
	}
}

func TestSendAfterTheAnswerIsLost(t *testing.T) {
	var kept downstream.Exchange
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		kept = x
		if req.Method == "sent" {
			x.Send([]byte(note("n")))
		}
		return result(req, "1")
	}})
	for _, header := range []string{h.open(t, "2025-11-25"), modern} {
		for _, method := range []string{"sent", "whole"} {
			text(t, h.ask(t, "POST", "", call(1, method), header))
			if kept.Send([]byte(note("late"))) {
				t.Errorf("%s, %s: a late message was taken", header, method)
			}
		}
	}
	all, to := h.openPlain(t.Context(), t, "")
	h.ask(t, "POST", to, call(1, "whole"))
	all.must(t)
	if kept.Send([]byte(note("late"))) {
		t.Error("HTTP+SSE: a late message was taken")
	}
}

func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	var sent atomic.Int64
	b := &brain{}
	b.handle = func(ctx context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		n := 0
		for x.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"n","params":["%s"]}`, strings.Repeat("x", 10_000))) {
			n++
		}
		sent.Store(int64(n))
		<-ctx.Done() // the connection breaks
		return result(req, "1")
	}
	inBubble(t, b, func(h *house) {
		t := h.t
		resp := h.ask(t, "POST", "", call(1, "x"), modern)
		began := time.Now()
		synctest.Wait()
		if n := sent.Load(); n < 100 || n > 120 {
			t.Errorf("%d messages of 10 KB were taken, want about 1 MB", n)
		}
		_, err := io.Copy(io.Discard, &slow{resp.Body, time.Minute})
		if err == nil || time.Since(began) > 2*time.Minute {
			t.Errorf("the stream ended with %v after %v", err, time.Since(began))
		}
	})
}

// slow waits before its first read.
type slow struct {
	io.Reader
	wait time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(s.wait)
	s.wait = 0
	return s.Reader.Read(p)
}

func TestAConnectionServesAgainAfterALongWhile(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		if req.Method == "sent" {
			x.Send([]byte(note("first")))
		}
		return downstream.Answer{Body: result(req, "1").Body, Stream: req.Method == "whole"}
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		for _, method := range []string{"json", "whole", "sent", "json"} {
			if got := text(t, h.ask(t, "POST", "", call(1, method), modern)); !strings.Contains(got, `"result":1`) {
				t.Errorf("%s: %s", method, got)
			}
			time.Sleep(10 * time.Minute)
			if resp := h.ask(t, "POST", "", note("n"), modern); resp.StatusCode != http.StatusAccepted {
				t.Errorf("after %s: %d", method, resp.StatusCode)
			}
		}
	})
}
