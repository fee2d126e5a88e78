package rerank

import "time"

// When a backend counts as silent, and for how long it is then not asked.
const (
	silencesToOpen = 5
	coolDown       = 10 * time.Second
	// A caller may give less time than any backend needs. Only a wait of this length counts as
	// silence.
	tellingWait = time.Second
)

// breaker is a circuit breaker. It keeps callers from waiting, one after the other, for a backend
// that has stopped answering. Only silence counts: a refusal comes at once and shows that the
// backend is up. The caller holds the lock.
type breaker struct {
	silences int // in a row
	until    time.Time
	probing  bool // one call is testing whether the backend is back
}

// allow reports whether the backend may be asked. If so, the caller must call done afterwards.
func (b *breaker) allow(now time.Time) bool {
	if b.silences < silencesToOpen {
		return true
	}
	if b.probing || now.Before(b.until) {
		return false
	}
	b.probing = true
	return true
}

type outcome int

const (
	answered outcome = iota
	silent
	unclear // given up too early to tell
)

// done records the outcome of a call. It reports whether the breaker opened or closed.
func (b *breaker) done(o outcome, now time.Time) (opened, closed bool) {
	wasOpen := b.silences >= silencesToOpen
	b.probing = false
	switch o {
	case answered:
		b.silences = 0
		return false, wasOpen
	case silent:
		b.silences = min(b.silences+1, silencesToOpen)
		if b.silences == silencesToOpen {
			b.until = now.Add(coolDown)
			return !wasOpen, false
		}
	case unclear:
	}
	return false, false
}
