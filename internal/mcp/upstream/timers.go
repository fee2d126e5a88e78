package upstream

import (
	"sync"
	"time"
)

// timers are those of a connection's calls, each kept for the next one.
type timers struct{ idle sync.Pool }

// start gives a timer that fires after this time.
func (t *timers) start(after time.Duration) *time.Timer {
	if kept, ok := t.idle.Get().(*time.Timer); ok {
		kept.Reset(after)
		return kept
	}
	return time.NewTimer(after)
}

// stop takes a timer back that nobody waits for.
func (t *timers) stop(timer *time.Timer) {
	timer.Stop()
	t.idle.Put(timer)
}
