package app

import (
	"net"
	"net/http"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/limit"
)

// guesses slows down callers with invalid credentials. An address with too many of them waits for
// each further refusal. Callers with valid credentials are never delayed.
type guesses struct {
	limit *limit.Local
	slots chan struct{} // one token for each waiting refusal
}

const (
	guessesPerMinute = 30
	guessDelay       = time.Second
	maxWaiting       = 256 // delayed refusals; further ones get 429 at once
)

func newGuesses() *guesses {
	return &guesses{limit: limit.PerMinute(guessesPerMinute), slots: make(chan struct{}, maxWaiting)}
}

// slow delays a refusal if this address has made too many guesses, and returns the verdict to
// answer with. It returns Guessing at once if too many are waiting already.
func (g *guesses) slow(r *http.Request, v access.Verdict) access.Verdict {
	if v.Kind != access.Unauthorized || v.Cause == access.CauseMissing {
		return v
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if _, ok := g.limit.Allow(host); ok {
		return v
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		return access.Verdict{Kind: access.Guessing, Reason: "too many wrong credentials come from this address; try again in a minute"}
	}
	wait := time.NewTimer(guessDelay)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.Context().Done():
	}
	return v
}
