package pruner

import (
	"testing"
	"time"
)

func TestStopwatchRests(t *testing.T) {
	now := time.Unix(0, 0)
	w := stopwatch{now: func() time.Time { return now }, limit: 10 * time.Second}
	w.start()
	now = now.Add(6 * time.Second)
	w.pause()
	now = now.Add(time.Hour)
	w.start()
	now = now.Add(3 * time.Second)
	if w.expired() {
		t.Error("expired after 9 of 10 seconds, an hour's rest not counted")
	}
	now = now.Add(time.Second)
	if !w.expired() {
		t.Error("not expired after 10 seconds in two parts")
	}
}
