package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"secateur/internal/mcp/upstream"
)

// Private connections (isolation = "per-session"), and thus processes, are limited per server and
// per owner. An abandoned session looks like an idle one. If an owner has reached its limit, its
// least recently used connection is evicted (LRU), provided it has been idle long enough.

// restTime is how long a private connection is protected from eviction after its last call.
const restTime = 5 * time.Minute

// epoch is the origin of times stored as numbers. It uses the monotonic clock.
var epoch = time.Now()

// touch records that the connection is in use.
func (c *Conn) touch() { c.used.Store(int64(time.Since(epoch))) }

// makeRoom ensures that an owner may have one more private connection to a server. The caller holds
// Pool.mu.
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

// lastUse returns when the connection was last used, since epoch. The caller holds Pool.mu.
func (c *Conn) lastUse() time.Duration {
	return time.Duration(cmp.Or(c.used.Load(), int64(c.since.Sub(epoch))))
}

// endResting ends the connection unless a call is in flight. The caller holds Pool.mu.
func (c *Conn) endResting() bool {
	c.leaving.Store(true) // no further calls enter
	if c.calls.Load() > 0 {
		c.leaving.Store(false)
		return false
	}
	c.end()
	return true
}

// tooMany is ErrTooMany with the error for callers.
type tooMany struct{ *upstream.CallError }

func (e *tooMany) Unwrap() []error { return []error{ErrTooMany, e.CallError} }

func tooManyConnections(server string, limit int) error {
	return &tooMany{&upstream.CallError{
		Kind:    upstream.Overloaded,
		Message: fmt.Sprintf("server %q: %d sessions have a process of their own (isolation = \"per-session\"), and that is as many as there may be", server, limit),
		Hint:    "end sessions that are not needed any more (DELETE); one that was not used for five minutes makes room by itself",
	}}
}
