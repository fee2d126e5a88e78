package wire

import (
	"context"
	"sync"
)

// InFlight are the requests of one peer that have no answer yet, by their ids, so that the peer can cancel one (MCP,
// "Cancellation"). The zero value is ready. It may be used by many goroutines.
type InFlight struct {
	mu     sync.Mutex
	closed bool                        // guarded by mu
	open   map[string]*inFlightRequest // guarded by mu; by the request's id
}

// inFlightRequest is a request, and the others of the same id.
type inFlightRequest struct {
	all    *InFlight
	key    string
	cancel context.CancelCauseFunc
	next   *inFlightRequest // guarded by InFlight.mu
	over   bool             // guarded by InFlight.mu
}

// Begin notes a request until done is called, which more than once is once. Its context ends when it is cancelled.
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

// Cancel ends the context of the request of that id with this cause, if there is exactly one: of several, nobody can say
// which is meant. It reports whether it did.
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

// Close cancels all requests, now and from now on.
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
