package wire

import (
	"context"
	"sync"
)

// InFlight tracks one peer's unanswered requests by id, so that the peer can cancel them (MCP,
// "Cancellation"). The zero value is ready for use. It is safe for concurrent use.
type InFlight struct {
	mu     sync.Mutex
	closed bool                        // guarded by mu
	open   map[string]*inFlightRequest // guarded by mu; keyed by ID.Key
}

// inFlightRequest is one open request. next links further requests with the same id.
type inFlightRequest struct {
	all    *InFlight
	key    string
	cancel context.CancelCauseFunc
	next   *inFlightRequest // guarded by InFlight.mu
	over   bool             // guarded by InFlight.mu
}

// Begin tracks a request until done is called; further calls of done do nothing. Cancelling the
// request ends the returned context.
func (f *InFlight) Begin(ctx context.Context, id ID) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &inFlightRequest{all: f, key: id.Key(), cancel: cancel}
	f.mu.Lock()
	if f.closed {
		cancel(context.Canceled)
	}
	if f.open == nil {
		f.open = map[string]*inFlightRequest{}
	}
	r.next = f.open[r.key]
	f.open[r.key] = r
	f.mu.Unlock()
	return ctx, r.done
}

func (r *inFlightRequest) done() {
	r.all.end(r)
	r.cancel(nil)
}

func (f *InFlight) end(r *inFlightRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.over {
		return
	}
	r.over = true
	key := r.key
	if first := f.open[key]; first != r {
		for first.next != r {
			first = first.next
		}
		first.next = r.next
		return
	}
	if f.open[key] = r.next; r.next == nil {
		delete(f.open, key)
	}
}

// Cancel ends the context of the request with this id, with the given cause. If several requests
// share the id, it cancels none, since the target is ambiguous. It reports whether it cancelled
// one.
func (f *InFlight) Cancel(id ID, cause error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.open[id.Key()]
	if id.IsZero() || found == nil || found.next != nil {
		return false
	}
	found.cancel(cause)
	return true
}

// Close cancels all current and future requests.
func (f *InFlight) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, r := range f.open {
		for ; r != nil; r = r.next {
			r.cancel(context.Canceled)
		}
	}
}
