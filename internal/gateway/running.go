package gateway

import (
	"context"
	"errors"
	"sync"
)

// errCancelled is why a call ended whose caller asked for that.
var errCancelled = errors.New("cancelled by the caller")

// callKey names a call as its caller does. Callers without a session may share one.
type callKey struct {
	server, principal string
	id                string // as rpc.ID.Key gives it
}

type call struct{ cancel context.CancelCauseFunc }

// running knows the calls under way, so that a notification can cancel one.
type running struct {
	mu    sync.Mutex // guards the field below
	calls map[callKey]map[*call]struct{}
}

// begin notes a call until done is called. Calls that cannot be cancelled by name are not noted.
func (r *running) begin(ctx context.Context, key callKey, cancellable bool) (_ context.Context, done func()) {
	if !cancellable {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel}
	r.mu.Lock()
	if r.calls[key] == nil {
		r.calls[key] = map[*call]struct{}{}
	}
	r.calls[key][c] = struct{}{}
	r.mu.Unlock()
	return ctx, func() {
		r.mu.Lock()
		delete(r.calls[key], c)
		if len(r.calls[key]) == 0 {
			delete(r.calls, key)
		}
		r.mu.Unlock()
		cancel(nil)
	}
}

// cancel ends the call of that name, if there is exactly one: of several, nobody can say whose is meant.
func (r *running) cancel(key callKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls[key]) != 1 {
		return
	}
	for c := range r.calls[key] {
		c.cancel(errCancelled)
	}
}
