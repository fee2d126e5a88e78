package downstream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// talk makes a brain's requests send the messages that a test passes in, until the test closes the
// channel.
func talk(b *brain) (say chan string, said chan bool) {
	say, said = make(chan string), make(chan bool)
	b.handle = func(ctx context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		for {
			select {
			case text, ok := <-say:
				if !ok {
					return streamed(result(req, `"end"`))
				}
				said <- x.Send([]byte(text))
			case <-ctx.Done():
				return result(req, `"cancelled"`)
			}
		}
	}
	return say, said
}

func number(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":"n%d"}`, n) }

const endOfTalk = `{"jsonrpc":"2.0","id":1,"result":"end"}`

func TestAClientComesBackToItsStream(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		say, said := talk(h.brain)
		session := h.open(t, "2025-11-25")
		ctx, hangUp := context.WithCancel(t.Context())
		got := make(chan event)
		go func() {
			resp, err := h.try(ctx, call(1, "x"), session)
			for err == nil {
				var ev event
				if ev, err = eventsOf(resp.Body).next(); err == nil {
					got <- ev
				}
			}
			close(got)
		}()
		say <- number(1)
		if !<-said {
			t.Error("a message for a client that is there was lost")
		}
		first := <-got
		hangUp()
		for range got {
		}
		synctest.Wait()
		for n := 2; n <= 4; n++ {
			say <- number(n)
			if !<-said {
				t.Errorf("message %d for a client that may come back was lost", n)
			}
		}
		resp := h.ask(t, "GET", "", "", session, "Last-Event-ID: "+first.id)
		say <- number(5)
		if !<-said {
			t.Error("a message for a client that came back was lost")
		}
		close(say)
		want := []string{number(1), number(2), number(3), number(4), number(5), endOfTalk}
		if got := eventsOf(resp.Body).rest(t); !slices.Equal(got, want) {
			t.Errorf("came back to %q\nwant %q", got, want)
		}
		// Written messages are kept for a moment, in case the connection broke before they arrived.
		if got := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: 1-4").Body).rest(t); !slices.Equal(got, want[4:]) {
			t.Errorf("once more: %q", got)
		}
		if resp := h.ask(t, "GET", "", "", session, "Last-Event-ID: 1-6"); resp.StatusCode != http.StatusNoContent {
			t.Errorf("behind the last event: %d, want nothing to come", resp.StatusCode)
		}
		if resp := h.ask(t, "GET", "", "", session, "Last-Event-ID: 1-7"); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("behind an event that never was: %d", resp.StatusCode)
		}
		time.Sleep(2 * time.Minute)
		if resp := h.ask(t, "GET", "", "", session, "Last-Event-ID: 1-4"); resp.StatusCode != http.StatusGone || !strings.Contains(text(t, resp), "-32600") {
			t.Errorf("long after: %d, want gone", resp.StatusCode)
		}
	})
}

func TestAnAnswerThatNobodyGotIsKept(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		say, said := talk(h.brain)
		session := h.open(t, "2025-11-25")
		ctx, hangUp := context.WithCancel(t.Context())
		go func() { say <- number(1); <-said }()
		resp, err := h.try(ctx, call(1, "x"), session)
		if err != nil {
			t.Fatal(err)
		}
		last := eventsOf(resp.Body).must(t).id
		hangUp()
		synctest.Wait()
		close(say)
		time.Sleep(10 * time.Minute)
		want := []string{number(1), endOfTalk}
		if got := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: "+last).Body).rest(t); !slices.Equal(got, want) {
			t.Errorf("after ten minutes: %q, want %q", got, want)
		}
	})
}

func TestAWholeAnswerCanBeHadAgain(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return streamed(result(req, `"`+strings.Repeat("x", 100_000)+`"`))
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		first := eventsOf(h.ask(t, "POST", "", call(1, "x"), session).Body).rest(t)
		synctest.Wait() // written messages are kept
		again := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: 1-0").Body).rest(t)
		if len(first) != 1 || !slices.Equal(first, again) {
			t.Errorf("%d events, then %d, or not the same", len(first), len(again))
		}
	})
}

func TestWhatIsHeldForAClientIsBounded(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		say, said := talk(h.brain)
		session := h.open(t, "2025-11-25")
		ctx, hangUp := context.WithCancel(t.Context())
		go func() { say <- number(0); <-said }()
		resp, err := h.try(ctx, call(1, "x"), session)
		if err != nil {
			t.Fatal(err)
		}
		all := eventsOf(resp.Body)
		all.must(t) // the priming event
		last := all.must(t).id
		hangUp()
		synctest.Wait()
		taken := 0
		for n := range 1000 {
			say <- number(n)
			if <-said {
				taken++
			}
		}
		close(say)
		if taken < 200 || taken > 256 {
			t.Errorf("%d messages were taken for a client that is away, want no more than 256", taken)
		}
		got := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: "+last).Body).rest(t)
		if len(got) != taken+1 || got[len(got)-1] != endOfTalk {
			t.Errorf("%d events of %d, the last %q", len(got), taken+1, got[len(got)-1])
		}
	})
}

func TestOldAnswersMakeRoomForNewOnes(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return streamed(result(req, `"`+strings.Repeat("x", 300_000)+`"`))
	}}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		for range 10 {
			text(t, h.ask(t, "POST", "", call(1, "x"), session))
		}
		synctest.Wait() // written messages are kept
		for n, want := range map[int]int{1: 410, 5: 410, 10: 200} {
			resp := h.ask(t, "GET", "", "", session, fmt.Sprintf("Last-Event-ID: %d-0", n))
			if resp.StatusCode != want {
				t.Errorf("stream %d: %d, want %d", n, resp.StatusCode, want)
			}
		}
	})
}

func TestStandingStream(t *testing.T) {
	b := &brain{}
	inBubble(t, b, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		link := h.sessions()[0].Link
		link.Send([]byte(number(1))) // before any client listens
		resp := h.ask(t, "GET", "", "", session)
		all := eventsOf(resp.Body)
		if ev := all.must(t); ev.id != "0-0" || ev.data != "" || ev.retry == "" {
			t.Errorf("first event %+v, want a priming one", ev)
		}
		if ev := all.must(t); ev != (event{name: "message", id: "0-1", data: number(1)}) {
			t.Errorf("%+v", ev)
		}
		link.Send([]byte(number(2)))
		if ev := all.must(t); ev.data != number(2) {
			t.Errorf("%+v", ev)
		}
		// Of two connections the newer one gets it; the other takes over when that ends.
		newer := h.ask(t, "GET", "", "", session)
		heard := eventsOf(newer.Body)
		if ev := heard.must(t); ev.id != "0-2" {
			t.Errorf("%+v, want to begin behind the second message", ev)
		}
		link.Send([]byte(number(3)))
		if ev := heard.must(t); ev.data != number(3) {
			t.Errorf("%+v", ev)
		}
		newer.Body.Close()
		synctest.Wait()
		link.Send([]byte(number(4)))
		if ev := all.must(t); ev.data != number(4) {
			t.Errorf("the older one heard %+v, want what came after the newer one was gone", ev)
		}
		resp.Body.Close()
		synctest.Wait()
		for n := 5; n < 1000; n++ {
			if !link.Send([]byte(number(n))) {
				t.Fatalf("message %d lost", n)
			}
		}
		again := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: 0-4").Body)
		again.must(t) // a comment
		first := again.must(t)
		if first.data != number(744) || first.id != "0-744" {
			t.Errorf("%+v, want the oldest of the 256 that are kept", first)
		}
		for range 255 {
			again.must(t)
		}
		if ev := again.must(t); ev.comment != "keep-alive" {
			t.Errorf("%+v, want silence", ev)
		}
	})
}

func TestAnotherListenerTakesOverAtOnce(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		session := h.open(t, "2025-11-25")
		older := eventsOf(h.ask(t, "GET", "", "", session).Body)
		older.must(t)
		newer := h.ask(t, "GET", "", "", session)
		eventsOf(newer.Body).must(t)
		long := `"` + strings.Repeat("x", 100_000) + `"`
		for range 3 {
			// more than the newer one accepts without reading
			h.sessions()[0].Link.Send([]byte(long))
		}
		synctest.Wait()
		newer.Body.Close()
		began := time.Now()
		for range 3 {
			if ev := older.must(t); ev.data != long {
				t.Errorf("%.100v", ev)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took over after %v", took)
		}
	})
}

func TestAnOlderRevisionsStandingStreamBeginsWithAComment(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-03-26")
	all := eventsOf(h.ask(t, "GET", "", "", session).Body)
	if ev := all.must(t); ev.comment == "" {
		t.Errorf("%+v", ev)
	}
	h.sessions()[0].Link.Send([]byte(number(1)))
	if ev := all.must(t); ev.data != number(1) || ev.id != "0-1" {
		t.Errorf("%+v", ev)
	}
}

func TestTooManyListenersMakeWay(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-11-25")
	oldest := h.ask(t, "GET", "", "", session)
	for range 8 {
		eventsOf(h.ask(t, "GET", "", "", session).Body).must(t)
	}
	eventsOf(oldest.Body).rest(t) // to its end
}

func TestTheEndOfASessionEndsItsStreams(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		say, said := talk(h.brain)
		session := h.open(t, "2025-11-25")
		listening := h.ask(t, "GET", "", "", session)
		go func() { say <- number(1); <-said }()
		calling := h.ask(t, "POST", "", call(1, "x"), session)
		if resp := h.ask(t, "DELETE", "", "", session); resp.StatusCode != http.StatusNoContent {
			t.Fatalf("DELETE: %d", resp.StatusCode)
		}
		eventsOf(listening.Body).rest(t)
		if got := eventsOf(calling.Body).rest(t); len(got) != 2 || !strings.Contains(got[1], "cancelled") {
			t.Errorf("the running call: %q", got)
		}
		within(t, "Close", h.sessions()[0].closed)
		if h.sessions()[0].Link.Send([]byte(number(1))) {
			t.Error("a message to an ended session was taken")
		}
	})
}

func TestALongAnswerThatNobodyGotIsCopied(t *testing.T) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 100_000) + `"}`)
	want := string(body)
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		answer := make(chan struct{})
		h.handle = func(_ context.Context, _ *fakeSession, _ *wire.Message, x downstream.Exchange) downstream.Answer {
			x.Send([]byte(number(1)))
			<-answer
			return downstream.Answer{Body: body, Release: func() { clear(body) }}
		}
		for _, rule := range []string{"gone before the answer", "gone while it is written"} {
			copy(body, want)
			session := h.open(t, "2025-11-25")
			ctx, hangUp := context.WithCancel(t.Context())
			resp, err := h.try(ctx, call(1, "x"), session)
			if err != nil {
				t.Fatal(err)
			}
			all := eventsOf(resp.Body)
			all.must(t)
			last := all.must(t).id
			if rule == "gone before the answer" {
				hangUp()
				synctest.Wait()
			}
			answer <- struct{}{}
			synctest.Wait()
			hangUp()
			synctest.Wait()
			if string(body) == want {
				t.Errorf("%s: the answer was not released", rule)
			}
			if got := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: "+last).Body).rest(t); len(got) != 1 || got[0] != want {
				t.Errorf("%s: came back to %.100q", rule, got)
			}
		}
	})
}

func TestASlowReaderMayComeBack(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		h.handle = func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
			for n := range 50 {
				x.Send(fmt.Appendf(nil, `{"n":%d,"x":"%s"}`, n, strings.Repeat("x", 10_000)))
			}
			return result(req, `"end"`)
		}
		session := h.open(t, "2025-11-25")
		resp := h.ask(t, "POST", "", call(1, "x"), session)
		all := eventsOf(resp.Body)
		all.must(t)
		last := all.must(t).id
		time.Sleep(5 * time.Minute) // the stalled connection is given up
		got := eventsOf(h.ask(t, "GET", "", "", session, "Last-Event-ID: "+last).Body).rest(t)
		if len(got) != 50 || !strings.HasPrefix(got[0], `{"n":1,`) || got[49] != endOfTalk {
			t.Errorf("%d messages, the first %.20s, the last %.60s", len(got), got[0], got[len(got)-1])
		}
	})
}

// A client that hangs up at any time and returns gets every message once and in order.
func TestNothingIsLostBetweenConnections(t *testing.T) {
	for seed := range uint64(40) {
		inBubble(t, &brain{}, func(h *house) {
			t, random := h.t, rand.New(rand.NewPCG(seed, 1))
			const many = 100
			standing := seed%2 == 0
			session := h.open(t, "2025-11-25")
			send := func(put func([]byte) bool) {
				random := rand.New(rand.NewPCG(seed, 2))
				for n := range many {
					if !put([]byte(number(n))) {
						t.Errorf("seed %d: message %d was lost", seed, n)
					}
					time.Sleep(time.Duration(random.IntN(3)) * time.Second)
				}
			}
			h.handle = func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
				send(x.Send)
				return result(req, "1")
			}
			method, body, last := "POST", call(1, "x"), ""
			if standing {
				method, body = "GET", ""
				go send(h.sessions()[0].Link.Send)
			}
			var got []string
			for len(got) < many {
				header := []string{session}
				if last != "" {
					method, body = "GET", ""
					header = append(header, "Last-Event-ID: "+last)
				}
				ctx, hangUp := context.WithCancel(t.Context())
				resp := h.askWith(ctx, t, method, "", body, header...)
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("seed %d: %d", seed, resp.StatusCode)
				}
				all := eventsOf(resp.Body)
				for range 1 + random.IntN(20) {
					ev, err := all.next()
					if err != nil || len(got) == many {
						break
					}
					if ev.id != "" {
						last = ev.id
					}
					if ev.data != "" {
						got = append(got, ev.data)
					}
				}
				hangUp()
				time.Sleep(time.Duration(random.IntN(20)) * time.Second)
			}
			for n, text := range got {
				if text != number(n) {
					t.Fatalf("seed %d: message %d is %s", seed, n, text)
				}
			}
		})
	}
}
