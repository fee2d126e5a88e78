package rerank

import "time"

// What makes a backend count as silent, and for how long it is then left alone.
const (
	silencesToOpen = 5
	coolDown       = 10 * time.Second
	// A caller may give less time than any backend needs. Only a wait of this length tells about the backend.
	tellingWait = time.Second
)

// breaker is a circuit breaker: it keeps callers from waiting, one after the other, for a backend that has stopped answering. Only silence
// counts: a refusal comes at once and costs nobody time, and shows that somebody is there. Its user holds the lock.
type breaker struct {
	silences int // in a row
	until    time.Time
	probing  bool // one call is trying whether the backend is back
}

// allow reports whether the backend may be asked. The call that may must be followed by done.
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

// done notes how a call went. It reports whether that changed what allow says: opened, or closed again.
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
