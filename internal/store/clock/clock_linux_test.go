package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/clock"
)

// A step of the system clock does not count as elapsed time, in either direction. Real time does.
func TestStepsAreNoTime(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": 48 * time.Hour, "back": -48 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var by time.Duration
			c := &clock.Clock{Wall: func() time.Time { return time.Now().Add(by) }}
			before := c.Now()
			time.Sleep(time.Minute)
			by = step
			time.Sleep(time.Minute)
			if passed := c.Now().Sub(before); passed != 2*time.Minute {
				t.Errorf("%s: %v have passed, want 2m", name, passed)
			}
			wall := before.Add(2*time.Minute + step)
			early, late := before.Add(2*time.Minute), wall
			if step < 0 {
				early, late = late, early
			}
			if !c.Earliest().Equal(early) || !c.Latest().Equal(late) {
				t.Errorf("%s: between %v and %v, want %v and %v", name, c.Earliest(), c.Latest(), early, late)
			}
		})
	}
}
