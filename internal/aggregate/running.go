package aggregate

import (
	"context"
	"sync"

	"secateur/internal/rpc"
)

// running are a client's requests that have no answer yet, so that it can cancel one.
type running struct {
	mu     sync.Mutex
	closed bool                    // guarded by mu
	calls  map[string]*runningCall // guarded by mu; by the request's id
}

// runningCall is a request, and the others of the same id.
type runningCall struct {
	cancel context.CancelCauseFunc
	next   *runningCall // guarded by running.mu
}

// begin notes a request until done is called.
func (r *running) begin(ctx context.Context, id rpc.ID) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := id.Key()
	r.mu.Lock()
	if r.closed {
		cancel(context.Canceled)
	}
	if r.calls == nil {
		r.calls = map[string]*runningCall{}
	}
	c := &runningCall{cancel: cancel, next: r.calls[key]}
	r.calls[key] = c
	r.mu.Unlock()
	return ctx, func() {
		r.end(key, c)
		cancel(nil)
	}
}

func (r *running) end(key string, c *runningCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.calls[key]; first != c {
		for first.next != c {
			first = first.next
		}
		first.next = c.next
		return
	}
	if r.calls[key] = c.next; c.next == nil {
		delete(r.calls, key)
	}
}

// cancel ends the request of that id, if there is exactly one: of several, nobody can say which is meant.
func (r *running) cancel(id rpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.calls[id.Key()]; !id.IsZero() && found != nil && found.next == nil {
		found.cancel(errCancelled)
	}
}

// close ends all requests, now and from now on.
func (r *running) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, c := range r.calls {
		for ; c != nil; c = c.next {
			c.cancel(context.Canceled)
		}
	}
}
