package upstream

import (
	"secateur/internal/access"
	"secateur/internal/front/budget"
)

// room counts a message of a server against the budget of bytes in flight while it is being read: whose answer it is
// shows only when it is whole. It is for one reader.
type room struct {
	budget *budget.Budget
	server access.Holder
	hold   *budget.Hold // nil: the message is small so far, or there is no budget
	held   int64
}

// smallMessage is what a message may have before it counts.
const smallMessage = 64 << 10

func (u *Upstream) newRoom() *room {
	return &room{budget: u.opt.Budget, server: access.Holder{Principal: "server " + u.opt.Settings.ID}}
}

// take makes room for a message of so many bytes, all told; false: there is none. With 0 the message is somebody else's.
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
