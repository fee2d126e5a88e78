package upstream

import (
	"sync"
	"time"
)

// timers is a pool of timers for a connection's calls.
type timers struct{ idle sync.Pool }

// start returns a timer that fires after this time.
func (t *timers) start(after time.Duration) *time.Timer {
	if kept, ok := t.idle.Get().(*time.Timer); ok {
		kept.Reset(after)
		return kept
	}
	return time.NewTimer(after)
}

// stop returns an unused timer to the pool.
func (t *timers) stop(timer *time.Timer) {
	timer.Stop()
	t.idle.Put(timer)
}
