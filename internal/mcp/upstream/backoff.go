package upstream

import (
	"math/rand/v2"
	"time"
)

const (
	backoffFirst = 500 * time.Millisecond
	backoffLast  = time.Minute
	sustained    = time.Minute // after running this long, a server restarts with the first delay
	wakeAfter    = time.Second // a call may skip the wait if the last attempt is this old
)

// Backoff computes exponential delays between attempts. Each is about twice the previous one, from
// First (0: half a second) up to a minute. The delays have jitter, so that servers that failed
// together do not restart together. The zero value is ready for use.
type Backoff struct {
	First    time.Duration
	failures int
}

// Next returns the delay before the next attempt.
func (b *Backoff) Next() time.Duration {
	d := b.First
	if d <= 0 {
		d = backoffFirst
	}
	d = min(d<<min(b.failures, 7), backoffLast)
	b.failures++
	return d/2 + rand.N(d/2+1) //nolint:gosec // not security-relevant
}

// Failures returns the number of calls to Next since the last Reset.
func (b *Backoff) Failures() int { return b.failures }

// Reset restarts the delays at First, after a successful attempt.
func (b *Backoff) Reset() { b.failures = 0 }
