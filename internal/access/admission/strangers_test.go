package admission_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/ops/events"
)

// auditLines collects the written lines.
type auditLines []admission.Line

func (a *auditLines) Write(_ context.Context, l admission.Line) { *a = append(*a, l) }

// Refused unknown callers flood neither the audit nor the events: one line per minute, door and
// cause, with a count. The metric counts them all, and a reload does not restart the minute.
func TestStrangersAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed, lines := events.New(), &auditLines{}
		c := control(t, false, admission.Options{Events: feed, Audit: lines})
		feed.PublishRequest(events.Request{RequestID: "a call"})
		storm := func() {
			for range 3000 {
				c.Unauthorized(t.Context(), access.DoorMCP, string(access.CauseInvalid))
				c.Forbidden(t.Context(), access.DoorAdmin)
				c.Overloaded(t.Context(), access.DoorChat)
			}
		}
		storm()
		c = control(t, false, admission.Options{Events: feed, Audit: lines, Replaces: c})
		storm()
		time.Sleep(time.Minute)
		storm()
		if len(*lines) != 2 || (*lines)[0].Count != 1 || (*lines)[1].Count != 6000 {
			t.Errorf("audit: %+v, want two lines, of 1 and of 6000", *lines)
		}
		batch, err := feed.Subscribe(events.FromStart).Next(t.Context())
		if err != nil || batch.Gap || len(batch.Events) != 7 || batch.Events[0].Type != events.TypeRequest {
			t.Fatalf("told: gap %v, %d events, %v, want the call and six refusals", batch.Gap, len(batch.Events), err)
		}
		for _, e := range batch.Events[4:] {
			if r, _ := e.Data.(events.Refusal); r.Count != 6000 {
				t.Errorf("%+v, want a count of 6000", r)
			}
		}
		if all := feed.Recent(events.TypeRefusal, 10_000); len(all) != 1000 {
			t.Errorf("the list has %d refusals, want as many as it holds", len(all))
		}
	})
}
