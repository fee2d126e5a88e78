package app

import (
	"net"
	"net/http"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/limit"
)

// guesses slow down who shows credentials that are none: an address that has done so too often waits for each further
// refusal. Who shows a good one is never held up.
type guesses struct {
	limit *limit.Local
	slots chan struct{} // holds a token for each that waits
}

const (
	guessesPerMinute = 30
	guessDelay       = time.Second
	maxWaiting       = 256 // refusals that are held back; further ones are 429 at once
)

func newGuesses() *guesses {
	return &guesses{limit: limit.PerMinute(guessesPerMinute), slots: make(chan struct{}, maxWaiting)}
}

// slow waits before a refusal, if this address has made too many guesses, and returns the verdict to answer with: where too many wait
// already, it is Guessing.
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
