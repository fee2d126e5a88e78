package upstream

import (
	"context"
	"strings"
	"time"
)

// On a pipe nothing says which call a server's request belongs to, and a connection is shared by many clients. A request
// is given to a client only where it is certainly its own: because all calls that were in flight when it came were that
// client's, or all others have ended since, which a call that waits for its answer cannot.

const (
	// doubtTime is how long a request waits for the calls of others to end, and a call that may ask for others of its
	// kind.
	doubtTime = 5 * time.Second

	// methodRoots is the one request that is answered alike for all clients of a connection.
	methodRoots = "roots/list"
)

// caller tells whose call it is: calls without one are each somebody else's.
func (c *call) caller() any {
	if c.by == nil {
		return c
	}
	return c.by
}

// soleCaller is a call of the only caller among these: the newest, or nil where there is none or several.
func soleCaller(calls []*call) *call {
	var newest *call
	for _, c := range calls {
		switch {
		case newest == nil || c.caller() == newest.caller() && c.number > newest.number:
			newest = c
		case c.caller() != newest.caller():
			return nil
		}
	}
	return newest
}

// attribute gives a request that came on no call's stream to the call that it certainly belongs to, or says why it is
// refused.
func (s *connection) attribute(ctx context.Context, in *inbound) (refusal string) {
	switch {
	case in.origin != nil && in.origin.handler == nil && !in.origin.own:
		return cannotBeAsked
	case in.origin != nil || len(in.calls) == 0:
		return ""
	}
	if in.msg.Method == methodRoots && soleCaller(in.calls) == nil {
		return "" // all have the same answer
	}
	s.calls.mayAsk(in.calls)
	c := s.waitForSoleCaller(ctx, in)
	switch {
	case c == nil:
		return `calls of several clients are in flight, and nobody can say which of them this belongs to; isolation = "per-session" would tell`
	case c.handler == nil:
		return cannotBeAsked
	}
	in.handler, in.owners = c.handler, in.calls
	return ""
}

// cannotBeAsked is said of a caller who has no way to be, such as the gateway's.
const cannotBeAsked = "the caller of this request cannot be asked anything"

// waitForSoleCaller waits until the calls that may have caused a request are those of one caller; nil if they are not
// in time.
func (s *connection) waitForSoleCaller(ctx context.Context, in *inbound) *call {
	limit := time.NewTimer(doubtTime)
	defer limit.Stop()
	for {
		left, changed := s.calls.among(in.calls)
		if c := soleCaller(left); c != nil || len(left) == 0 {
			return c
		}
		select {
		case <-changed:
		case <-limit.C:
			return nil
		case <-in.wanted.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// among are those of some calls that have no outcome yet. The channel is closed when any call gets its own.
func (t *calls) among(some []*call) (left []*call, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range some {
		if t.open[c.number] == c {
			left = append(left, c)
		}
	}
	return left, t.departure()
}

// departure is closed when a call gets its outcome. The lock is held.
func (t *calls) departure() <-chan struct{} {
	if t.left == nil {
		t.left = make(chan struct{})
	}
	return t.left
}

// departed says that a call has its outcome. The lock is held.
func (t *calls) departed() {
	if t.left != nil {
		close(t.left)
		t.left = nil
	}
}

// kind is what calls have in common that do the same.
type kind struct{ method, name string }

// maxAskingKinds bounds how many are remembered.
const maxAskingKinds = 256

// mayAsk remembers the kinds of calls of which one had a server ask something.
func (t *calls) mayAsk(some []*call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking == nil {
		t.asking = map[kind]struct{}{}
	}
	for _, c := range some {
		if len(t.asking) < maxAskingKinds {
			t.asking[kind{strings.Clone(c.kind.method), strings.Clone(c.kind.name)}] = struct{}{}
		}
	}
}

// isContested reports whether a call that may have its server ask something would meet another caller's that may. The
// lock is held.
func (t *calls) isContested(c *call) bool {
	if _, asks := t.asking[c.kind]; !asks || c.own {
		return false
	}
	for _, other := range t.open {
		if _, asks := t.asking[other.kind]; asks && !other.own && other.caller() != c.caller() {
			return true
		}
	}
	return false
}

// enter gives the call its number, when it is its turn: a kind of call that a server once had a question about is made
// for one caller at a time, so that the next question is certainly its own. No call waits longer than doubtTime.
func (s *connection) enter(ctx context.Context, c *call) error {
	freed, err := s.calls.tryAdd(c)
	if freed == nil {
		return err
	}
	limit := time.NewTimer(doubtTime)
	defer limit.Stop()
	for freed != nil {
		select {
		case <-freed:
			freed, err = s.calls.tryAdd(c)
		case <-limit.C:
			return s.calls.add(c)
		case <-ctx.Done():
			return s.calls.add(c) // which is then given up like any other
		}
	}
	return err
}

// tryAdd is add, unless the call would meet another whose questions could be taken for its own. The channel is then
// closed when a call has ended.
func (t *calls) tryAdd(c *call) (freed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil && t.isContested(c) {
		return t.departure(), nil
	}
	return nil, t.addLocked(c)
}
