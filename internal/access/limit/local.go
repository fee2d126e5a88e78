package limit

import (
	"sync"
	"time"
)

// Local allows each principal a number of calls per minute: as a burst, then evenly over the
// minute. The nil *Local allows everything. It is safe for concurrent use.
type Local struct {
	step   time.Duration // cost of one call
	window time.Duration // how far a principal may run ahead

	mu  sync.Mutex // guards the field below
	tat map[string]time.Time
}

// principals limits how many principals are remembered. Beyond it, idle ones are forgotten.
const principals = 10_000

// PerMinute returns a limiter of n calls per minute for each principal. For n <= 0 it returns nil,
// which allows everything.
func PerMinute(n int) *Local {
	if n <= 0 {
		return nil
	}
	step := time.Minute / time.Duration(n)
	return &Local{step: step, window: step * time.Duration(n), tat: map[string]time.Time{}}
}

// Allow counts a call. If it is refused, retryAfter says when the next one is allowed.
func (l *Local) Allow(principal string) (retryAfter time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	// The theoretical arrival time of GCRA: when all calls so far would be paid off at one per
	// step.
	at := l.tat[principal]
	if at.Before(now) {
		at = now
	}
	next := at.Add(l.step)
	if over := next.Sub(now) - l.window; over > 0 {
		return over, false
	}
	if len(l.tat) >= principals {
		l.forget(now)
	}
	l.tat[principal] = next
	return 0, true
}

func (l *Local) forget(now time.Time) {
	for who, at := range l.tat {
		if at.Before(now) {
			delete(l.tat, who)
		}
	}
}
