package events_test

import (
	"reflect"
	"testing"
	"time"

	"secateur/internal/ops/events"
)

// passed returns an event as another replica receives it.
func passed(t *testing.T, e events.Event) events.Event {
	t.Helper()
	b, err := events.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := events.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Events of every type reach another replica's listeners unchanged, with id and origin. Contents
// (goal and sent text) stay behind.
func TestEventsOfAnotherReplica(t *testing.T) {
	there, here := events.New(), events.New()
	now := time.Now().UTC()
	own := there.Subscribe("")
	there.PublishRequest(events.Request{RequestID: "r", Door: "mcp", Server: "s", Method: "tools/call", MS: 1.5, BytesIn: 3, Subject: "alice"})
	there.Publish(events.Cut{ID: "prn_1", At: now, Feature: "mcp", OriginalChars: 10, How: &events.Removal{Reason: "long", Goal: "secret", Parts: []events.Part{{StartLine: 1, EndLine: 2}}}})
	there.Publish(events.Server{ID: "s", State: "failed", LastError: "x"})
	there.Publish(events.Refusal{Door: "mcp", Reason: "acl", At: now})
	there.Publish(events.Reload{Outcome: "ok", Added: []string{"a"}})
	there.Publish(events.Log{At: now, Level: "INFO", Text: "t"})
	told := own.Own().Events
	if len(told) != 6 || len(own.Own().Events) != 0 {
		t.Fatalf("told = %+v, want six, once", told)
	}
	before := here.Subscribe("")
	for _, e := range told {
		here.Receive("b", passed(t, e))
	}
	got := next(t, before).Events
	if len(got) != 6 {
		t.Fatalf("got %+v", got)
	}
	for i, e := range got {
		if e.ID != told[i].ID || e.Type != told[i].Type || !e.At.Equal(told[i].At) {
			t.Errorf("event %d: %+v, want %+v", i, e, told[i])
		}
	}
	request, _ := got[0].Data.(events.Request)
	if request.Replica != "b" || request.RequestID != "r" || request.Subject != "alice" || request.MS != 1.5 {
		t.Errorf("request = %+v", request)
	}
	cut, _ := got[1].Data.(events.Cut)
	if cut.Replica != "b" || cut.How == nil || cut.How.Reason != "long" || cut.How.Goal != "" || !reflect.DeepEqual(cut.How.Parts, []events.Part{{StartLine: 1, EndLine: 2}}) {
		t.Errorf("cut = %+v, %+v", cut, cut.How)
	}
	if cuts := here.Cuts(9); len(cuts) != 1 || cuts[0].ID != "prn_1" {
		t.Errorf("cuts = %+v", cuts)
	}
	if again := here.Subscribe("").Own(); len(again.Events) != 0 {
		t.Errorf("what another has told is told on: %+v", again)
	}
	if here.Subscribe(events.FromStart).Own().Events != nil {
		t.Error("what another has told counts as this feed's own")
	}
	if rest := next(t, here.Subscribe(told[3].ID)); rest.Gap || len(rest.Events) != 2 {
		t.Errorf("behind an event of another replica: %+v, want the two after it", rest)
	}
}

// Late events of another replica are ordered by time in lists.
func TestListsAreOrderedByTime(t *testing.T) {
	feed := events.New()
	feed.Publish(events.Cut{ID: "here"})
	feed.Receive("b", events.Event{ID: "b-1", At: time.Now().Add(-time.Minute), Type: events.TypeCut, Data: events.Cut{ID: "there"}})
	if cuts := feed.Cuts(9); len(cuts) != 2 || cuts[0].ID != "here" || cuts[1].Replica != "b" {
		t.Errorf("cuts = %+v, want the newest first", cuts)
	}
	if cuts := feed.Cuts(1); len(cuts) != 1 || cuts[0].ID != "here" {
		t.Errorf("the newest cut = %+v", cuts)
	}
}

// A sender that is too slow knows how many events were lost.
func TestOwnEventsThatWereForgotten(t *testing.T) {
	feed := events.New()
	own := feed.Subscribe("")
	for n := range 2048 + 7 {
		feed.PublishRequest(request(n))
	}
	if b := own.Own(); !b.Gap || b.Lost != 7 || len(b.Events) != 2048 {
		t.Errorf("gap %v, lost %d, %d events, want 7 lost of 2055", b.Gap, b.Lost, len(b.Events))
	}
}
