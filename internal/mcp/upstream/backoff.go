package upstream

import (
	"math/rand/v2"
	"time"
)

const (
	backoffFirst = 500 * time.Millisecond
	backoffLast  = time.Minute
	sustained    = time.Minute // a server that ran this long starts again with the first delay
	wakeAfter    = time.Second // a call may cut the wait short when the last attempt is this old
)

// Backoff gives the waits between attempts: each about twice the one before, from First, which is half a second where it
// is zero, up to a minute. None of them is exact, so that servers that fell together do not rise together. The zero value
// is ready.
type Backoff struct {
	First    time.Duration
	failures int
}

// Next is the wait before the next attempt.
func (b *Backoff) Next() time.Duration {
	d := b.First
	if d <= 0 {
		d = backoffFirst
	}
	d = min(d<<min(b.failures, 7), backoffLast)
	b.failures++
	return d/2 + rand.N(d/2+1) //nolint:gosec // nothing secret
}

// Failures is how often Next was called since the last Reset.
func (b *Backoff) Failures() int { return b.failures }

// Reset begins anew, after an attempt that worked.
func (b *Backoff) Reset() { b.failures = 0 }
