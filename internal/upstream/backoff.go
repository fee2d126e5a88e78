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

// exponentialBackoff gives the waits between attempts: each about twice the one before, up to a minute, none of them exact, so
// that servers that fell together do not rise together. The zero value is ready.
type exponentialBackoff struct{ failures int }

func (b *exponentialBackoff) next() time.Duration {
	d := backoffLast
	if b.failures < 7 {
		d = backoffFirst << b.failures
	}
	b.failures++
	return d/2 + rand.N(d/2+1) //nolint:gosec // nothing secret
}

func (b *exponentialBackoff) reset() { b.failures = 0 }
