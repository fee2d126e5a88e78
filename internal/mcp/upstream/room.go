package upstream

import (
	"secateur/internal/access"
	"secateur/internal/front/budget"
)

// room counts a server's message against the budget of bytes in flight while it is read. The caller
// it belongs to is known only when it is complete. It is not safe for concurrent use.
type room struct {
	budget *budget.Budget
	server access.Holder
	hold   *budget.Hold // nil: the message is small so far, or no budget is set
	held   int64
}

// smallMessage is the size up to which a message does not count.
const smallMessage = 64 << 10

func (u *Upstream) newRoom() *room {
	return &room{budget: u.opt.Budget, server: access.Holder{Principal: "server " + u.opt.Settings.ID}}
}

// take reserves space for a message of this total size; false if the budget is exhausted. 0
// releases the reservation.
func (r *room) take(bytes int) bool {
	switch {
	case bytes == 0:
		r.hold.Close()
		r.hold, r.held = nil, 0
		return true
	case bytes <= smallMessage || r.budget == nil:
		return true
	case r.hold == nil:
		hold, err := r.budget.Open(r.server)
		if err != nil {
			return false
		}
		r.hold = hold
	}
	more := int64(bytes) - r.held
	if more <= 0 {
		return true
	}
	if r.hold.Grow(more) != nil {
		return false
	}
	r.held += more
	return true
}
