package llmproxy

import (
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/chat"
)

func TestABookingIsPutOff(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		wait  func(b *bookings, one *booking)
		after time.Duration
	}{
		{"for a moment", func(*bookings, *booking) { time.Sleep(time.Hour) }, breather},
		{"until it is asked for", func(_ *bookings, one *booking) { one.finish() }, 0},
		{"until all are", func(b *bookings, _ *booking) { b.finish() }, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bookings
				began := time.Now()
				var done []time.Duration
				one := b.putOff(func() { done = append(done, time.Since(began)) })
				tt.wait(&b, one)
				one.finish()
				b.finish()
				time.Sleep(time.Hour)
				if len(done) != 1 || done[0] != tt.after {
					t.Errorf("it was done after %v, want once, after %v", done, tt.after)
				}
				if len(b.pending) != 0 {
					t.Errorf("%d bookings are remembered that have been done", len(b.pending))
				}
			})
		})
	}
}

func TestAFewBookingsArePutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bookings
		for range maxPutOff {
			if b.putOff(func() {}) == nil {
				t.Fatal("a booking was not put off, with few that wait")
			}
		}
		if b.putOff(func() {}) != nil {
			t.Error("a booking was put off, with too many that wait")
		}
		b.finish()
		if b.putOff(func() {}) == nil {
			t.Error("a booking was not put off, with none that waits")
		}
		b.finish()
	})
}

func TestTheNextRequestHasABookingDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bookings
		var f flights
		final := &chat.Record{Messages: 2}
		one := f.start("k", planned{})
		one.ending.Store(true)
		one.booking.Store(b.putOff(func() { f.land(one, final) }))
		began := time.Now()
		if got := f.find(t.Context(), "k"); got != final || time.Since(began) != 0 {
			t.Errorf("find = %v after %v, want what was booked at once", got, time.Since(began))
		}
	})
}
