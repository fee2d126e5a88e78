package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"secateur/internal/mcp/upstream"
)

// How many connections, and so processes, sessions have for themselves (isolation = "per-session") is bounded for each
// server, and for each caller of it. Nobody can tell a session that was abandoned from one that rests: where a caller has
// as many as it may, the one that was not used for longest makes room (LRU), if that is long enough.

// restTime is how long a session's own connection is left alone after its last call.
const restTime = 5 * time.Minute

// epoch is what times that are kept as numbers are counted from: by the monotonic clock, which does not step.
var epoch = time.Now()

// touch notes that the connection is in use.
func (c *Conn) touch() { c.used.Store(int64(time.Since(epoch))) }

// makeRoom sees to it that a caller may have one more connection of a session's own to a server. The pool is locked.
func (f *Pool) makeRoom(s *server, owner string) error {
	var own []*Conn
	for _, c := range s.conns {
		if c.role == private && c.owner == owner {
			own = append(own, c)
		}
	}
	limit := f.opt.MaxPrivate
	switch {
	case len(own) >= f.opt.MaxOfOwner:
		limit = f.opt.MaxOfOwner
	case s.private < limit:
		return nil
	}
	slices.SortFunc(own, func(a, b *Conn) int { return cmp.Compare(a.lastUse(), b.lastUse()) })
	for _, c := range own {
		if time.Since(epoch)-c.lastUse() < restTime {
			break
		}
		if c.endResting() {
			return nil
		}
	}
	return tooManyConnections(s.settings.ID, limit)
}

// lastUse is when the connection was last used, since epoch. The pool is locked.
func (c *Conn) lastUse() time.Duration {
	return time.Duration(cmp.Or(c.used.Load(), int64(c.since.Sub(epoch))))
}

// endResting ends the connection unless a call is under way. The pool is locked.
func (c *Conn) endResting() bool {
	c.leaving.Store(true) // nobody enters from here on
	if c.calls.Load() > 0 {
		c.leaving.Store(false)
		return false
	}
	c.end()
	return true
}

// tooMany is ErrTooMany as callers are told.
type tooMany struct{ *upstream.CallError }

func (e *tooMany) Unwrap() []error { return []error{ErrTooMany, e.CallError} }

func tooManyConnections(server string, limit int) error {
	return &tooMany{&upstream.CallError{
		Kind:    upstream.Overloaded,
		Message: fmt.Sprintf("server %q: %d sessions have a process of their own (isolation = \"per-session\"), and that is as many as there may be", server, limit),
		Hint:    "end sessions that are not needed any more (DELETE); one that was not used for five minutes makes room by itself",
	}}
}
