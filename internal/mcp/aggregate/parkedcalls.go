package aggregate

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"secateur/internal/access"
)

// parkedCalls are the calls of modern clients whose legacy servers wait for an answer.
type parkedCalls struct {
	mu     sync.Mutex
	closed bool                   // guarded by mu
	open   map[callID]*parkedCall // guarded by mu
	share  access.Share           // guarded by mu
}

// maxParked bounds them. No caller has them all.
const maxParked = 1024

var (
	errTooManyParked = errors.New("too many calls wait for their clients")
	errNotComeBack   = errors.New("the client did not come back")
	errStopping      = errors.New("the program stops")
)

func (t *parkedCalls) add(p *parkedCall) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errStopping
	}
	if !t.share.Take(p.holder, 1, maxParked) {
		return errTooManyParked
	}
	if t.open == nil {
		t.open = map[callID]*parkedCall{}
	}
	t.open[p.id] = p
	return nil
}

func (t *parkedCalls) find(id callID) *parkedCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[id]
}

func (t *parkedCalls) drop(id callID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.open[id]; p != nil {
		t.share.Give(p.holder, 1)
		delete(t.open, id)
	}
}

// close ends those whose clients are away, and lets no client go away from now on.
func (t *parkedCalls) close() {
	t.mu.Lock()
	t.closed = true
	open := slices.Collect(maps.Values(t.open))
	t.mu.Unlock()
	for _, p := range open {
		if p.isAway() {
			t.drop(p.id)
			p.cancel(errStopping)
		}
	}
}

// abandon ends the calls of a connection that is over: its client will not come back to them.
func (t *parkedCalls) abandon(s *clientConn) {
	t.mu.Lock()
	open := slices.Collect(maps.Values(t.open))
	t.mu.Unlock()
	for _, p := range open {
		if p.session == s {
			t.drop(p.id)
			p.cancel(errSessionOver)
		}
	}
}

func (t *parkedCalls) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}
