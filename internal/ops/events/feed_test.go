package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/ops/events"
)

func request(n int) events.Request { return events.Request{RequestID: fmt.Sprint(n), Door: "gateway"} }

func ids(b events.Batch) (all []string) {
	for _, e := range b.Events {
		r, ok := e.Data.(events.Request)
		if !ok {
			continue
		}
		all = append(all, r.RequestID)
	}
	return all
}

func next(t *testing.T, s *events.Subscription) events.Batch {
	t.Helper()
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestListenersHearWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := events.New()
		feed.PublishRequest(request(1))
		sub := feed.Subscribe("")
		got := make(chan events.Batch)
		go func() { got <- next(t, sub) }()
		synctest.Wait()
		feed.Publish(events.Refusal{Door: "mcp", Reason: "rate", Rule: "search"})
		b := <-got
		if len(b.Events) != 1 || b.Gap || b.Events[0].Type != events.TypeRefusal || b.Events[0].ID == "" || b.Events[0].At.IsZero() {
			t.Errorf("a listener from now on got %+v, want the refusal alone", b)
		}
	})
}

func TestAListenerComesBackWhereItWas(t *testing.T) {
	feed := events.New()
	for n := range 5 {
		feed.PublishRequest(request(n))
	}
	all := next(t, feed.Subscribe(events.FromStart))
	if got := ids(all); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) || all.Gap {
		t.Fatalf("all = %v, gap %v", got, all.Gap)
	}
	rest := next(t, feed.Subscribe(all.Events[2].ID))
	if got := ids(rest); !slices.Equal(got, []string{"3", "4"}) || rest.Gap {
		t.Errorf("behind the third = %v, gap %v, want the last two", got, rest.Gap)
	}
}

func TestWhatIsTooOldIsAGapWithACount(t *testing.T) {
	const more = 3000
	feed := events.New()
	feed.PublishRequest(request(0))
	sub := feed.Subscribe(events.FromStart)
	first := next(t, sub)
	for n := range more {
		feed.PublishRequest(request(n + 1))
	}
	for _, c := range []struct {
		rule string
		sub  *events.Subscription
	}{{"a slow listener", sub}, {"one that comes back", feed.Subscribe(first.Events[0].ID)}} {
		seen, lost, gaps := 0, uint64(0), 0
		last := ""
		for seen+int(lost) < more {
			b := next(t, c.sub)
			if b.Gap {
				gaps++
			}
			lost += b.Lost
			seen += len(b.Events)
			last = ids(b)[len(b.Events)-1]
		}
		if gaps != 1 || lost == 0 || seen+int(lost) != more || last != fmt.Sprint(more) {
			t.Errorf("%s: %d seen, %d lost in %d gaps, the last is %s; want %d together and one gap", c.rule, seen, lost, gaps, last, more)
		}
	}
}

func TestAnIDOfAnotherRunIsAGap(t *testing.T) {
	earlier, feed := events.New(), events.New()
	earlier.PublishRequest(request(1))
	feed.PublishRequest(request(2))
	old := next(t, earlier.Subscribe(events.FromStart)).Events[0].ID
	for _, id := range []string{old, "nonsense", "-1", "99999999999999999999"} {
		if b := next(t, feed.Subscribe(id)); !b.Gap || len(b.Events) != 1 {
			t.Errorf("behind %q: %+v, want a gap and all there is", id, b)
		}
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, feed := range []*events.Feed{nil, events.New()} {
		feed.Publish(request(1))
		feed.PublishRequest(request(1))
		if _, err := feed.Subscribe("").Next(ctx); err == nil {
			t.Error("Next after the end of its context gives no error")
		}
	}
}

func TestListsHoldTheNewest(t *testing.T) {
	feed := events.New()
	for n := range 1500 {
		feed.Publish(events.Cut{ID: fmt.Sprint(n), Feature: "mcp"})
		feed.PublishRequest(request(n))
		feed.PublishRequest(request(n))
	}
	cuts := feed.Cuts(5000)
	if len(cuts) != 1000 || cuts[0].ID != "1499" || cuts[999].ID != "500" || cuts[0].At.IsZero() {
		t.Errorf("%d cuts from %s to %s, want 1000 from 1499 to 500", len(cuts), cuts[0].ID, cuts[len(cuts)-1].ID)
	}
	requests := feed.Recent(events.TypeRequest, 3)
	if len(requests) != 3 || requests[0].Data.(events.Request).RequestID != "1499" {
		t.Errorf("Recent(request, 3) = %v", requests)
	}
	if feed.Recent(events.TypeReload, 3) != nil {
		t.Error("a reload that never was")
	}
}

func TestRecoveredIsNotedOnce(t *testing.T) {
	feed := events.New()
	feed.Publish(events.Cut{ID: "a", Feature: "masked", TokensSaved: 7})
	feed.Publish(events.Cut{ID: "b"})
	if c, first := feed.Recovered("a"); !first || c.Feature != "masked" || c.TokensSaved != 7 {
		t.Errorf("Recovered(a) = %+v, %v", c, first)
	}
	if _, first := feed.Recovered("a"); first {
		t.Error("the second recovery of a text counts as its first")
	}
	if _, first := feed.Recovered("x"); first {
		t.Error("a text that was never cut was recovered")
	}
	if cuts := feed.Cuts(9); cuts[0].Recovered || !cuts[1].Recovered {
		t.Errorf("cuts = %+v, want a alone recovered", cuts)
	}
}

func TestDataHasTheNamesOfTheContract(t *testing.T) {
	for d, want := range map[events.Data]string{
		events.Request{}: `{"request_id":"","door":"","server":"","method":"","tool":"","outcome":"","ms":0,"bytes_in":0,"bytes_out":0,"subject":""}`,
		events.Cut{At: time.Unix(0, 0).UTC()}: `{"id":"","at":"1970-01-01T00:00:00Z","feature":"","server":"","tool":"","model":"",` +
			`"original_chars":0,"kept_chars":0,"tokens_saved":0,"recovered":false}`,
		events.Refusal{}:                      `{"request_id":"","door":"","reason":"","rule":"","subject":""}`,
		events.Log{At: time.Unix(0, 0).UTC()}: `{"at":"1970-01-01T00:00:00Z","server":"","level":"","text":""}`,
	} {
		got, err := json.Marshal(d)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", d.Type(), got, err, want)
		}
	}
}

func TestPublishersAndListenersAtOnce(t *testing.T) {
	feed := events.New()
	const publishers, each = 4, 1000
	ctx, cancel := context.WithCancel(t.Context())
	var listeners, work sync.WaitGroup
	for range 3 {
		sub := feed.Subscribe(events.FromStart)
		listeners.Go(func() {
			heard := uint64(0)
			for heard < publishers*each {
				b, err := sub.Next(ctx)
				if err != nil {
					t.Errorf("heard of %d of %d events", heard, publishers*each)
					return
				}
				heard += b.Lost + uint64(len(b.Events))
			}
		})
	}
	for range publishers {
		work.Go(func() {
			for n := range each {
				if n%7 == 0 {
					feed.Publish(events.Log{Text: strings.Repeat("x", 10)})
				} else {
					feed.PublishRequest(request(n))
				}
			}
		})
	}
	work.Wait()
	listeners.Wait()
	cancel()
}

func TestRequestsCostNoAllocation(t *testing.T) {
	feed := events.New()
	for range 4096 {
		feed.PublishRequest(events.Request{})
	}
	r := events.Request{RequestID: "a", Method: "tools/call"}
	if n := testing.AllocsPerRun(100, func() { feed.PublishRequest(r) }); n > 0 {
		t.Errorf("%v allocations a request, want none", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	feed := events.New()
	b.ReportAllocs()
	for b.Loop() {
		feed.PublishRequest(events.Request{RequestID: "a", Method: "tools/call"})
	}
}
