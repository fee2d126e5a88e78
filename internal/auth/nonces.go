package auth

import (
	"sync"
	"time"
)

// nonces remember what was used: for nonceLife at least, twice that at most.
type nonces struct {
	mu       sync.Mutex // guards the fields below
	now, old map[string]struct{}
	since    time.Time
}

const (
	nonceLife = 600 * time.Second
	maxNonces = 1 << 19 // of each half; beyond it signatures are refused: forgetting one would let it be used again
)

// use reports whether a nonce is new, and remembers it.
func (n *nonces) use(nonce string, at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn(at)
	if _, used := n.now[nonce]; used || len(n.now) >= maxNonces {
		return false
	}
	if _, used := n.old[nonce]; used {
		return false
	}
	n.now[nonce] = struct{}{}
	return true
}

// age forgets what is old.
func (n *nonces) age(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn(at)
}

func (n *nonces) turn(at time.Time) {
	switch {
	case n.now == nil || at.Sub(n.since) >= 2*nonceLife:
		n.now, n.old, n.since = map[string]struct{}{}, nil, at
	case at.Sub(n.since) >= nonceLife:
		n.now, n.old, n.since = map[string]struct{}{}, n.now, at
	}
}
