package upstream

import (
	"context"
	"strings"
	"time"
)

// On a pipe nothing says which call a server's request belongs to, and many clients share a
// connection. A request goes to a client only if it certainly belongs to it: if all calls in flight
// when it arrived were that client's, or if all others have ended since. A call that waits for the
// answer to its request cannot end.

const (
	// doubtTime limits how long a request waits for other clients' calls to end. It also limits how
	// long a call of a kind that may ask waits for others of such kinds.
	doubtTime = 5 * time.Second

	// methodRoots is the one request with the same answer for all clients of a connection.
	methodRoots = "roots/list"
)

// caller identifies the call's owner. A call without one counts as its own owner.
func (c *call) caller() any {
	if c.by == nil {
		return c
	}
	return c.by
}

// soleCaller returns the newest of the calls if they all have the same caller, else nil.
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

// attribute assigns a request that arrived on no call's stream to the call it certainly belongs to.
// If it cannot, it returns the reason for refusing the request.
func (s *connection) attribute(ctx context.Context, in *inbound) (refusal string) {
	switch {
	case in.origin != nil && in.origin.handler == nil && !in.origin.own:
		return cannotBeAsked
	case in.origin != nil || len(in.calls) == 0:
		return ""
	}
	if in.msg.Method == methodRoots && soleCaller(in.calls) == nil {
		return "" // the answer is the same for all
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

// cannotBeAsked refuses requests to a caller that cannot answer any, such as the gateway.
const cannotBeAsked = "the caller of this request cannot be asked anything"

// waitForSoleCaller waits until only one caller's calls may have caused a request. It returns nil
// if that takes too long.
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

// among returns those of the given calls that have no outcome yet. The channel is closed when any
// call gets its outcome.
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

// departure returns a channel that is closed when a call gets its outcome. The caller holds mu.
func (t *calls) departure() <-chan struct{} {
	if t.left == nil {
		t.left = make(chan struct{})
	}
	return t.left
}

// departed signals that a call got its outcome. The caller holds mu.
func (t *calls) departed() {
	if t.left != nil {
		close(t.left)
		t.left = nil
	}
}

// kind identifies calls that do the same thing.
type kind struct{ method, name string }

// maxAskingKinds limits how many kinds are remembered.
const maxAskingKinds = 256

// mayAsk remembers the kinds of these calls, one of which made the server ask something.
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

// isContested reports whether a call that may make its server ask would run beside another caller's
// such call. The caller holds mu.
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

// enter gives the call its number when it is its turn. If a kind of call once made the server ask,
// such calls run for one caller at a time. The next request can then be attributed. No call waits
// longer than doubtTime.
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
			return s.calls.add(c) // it is then abandoned like any other
		}
	}
	return err
}

// tryAdd is add, unless the call is contested. In that case it returns a channel that is closed
// when a call ends.
func (t *calls) tryAdd(c *call) (freed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil && t.isContested(c) {
		return t.departure(), nil
	}
	return nil, t.addLocked(c)
}
