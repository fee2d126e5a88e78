package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// hold is the context of work that ends with what its caller has shown. It has no deadline: its end is nobody's slowness. Most
// work is done before anybody waits for its end, so that what can be waited for is made for the first who does.
type hold struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	owner
	in     *held
	expiry *time.Timer // nil: what was shown does not expire

	mu     sync.Mutex
	ended  atomic.Bool        // set with mu held
	isMade atomic.Bool        // the two below are there; set with mu held
	made   context.Context    //nolint:containedctx // the same with an end
	cancel context.CancelFunc // ends made
}

// end ends the work.
func (h *hold) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended.Store(true)
	if h.isMade.Load() {
		h.cancel()
	}
}

// release says that the work is over.
func (h *hold) release() {
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.end()
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	delete(h.in.open, h)
}

// Done is closed when the work is to end.
func (h *hold) Done() <-chan struct{} {
	if !h.isMade.Load() {
		h.make()
	}
	return h.made.Done()
}

func (h *hold) make() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isMade.Load() {
		return
	}
	h.made, h.cancel = context.WithCancel(h.Context)
	if h.ended.Load() {
		h.cancel()
	}
	h.isMade.Store(true)
}

// Err is why the work is to end.
func (h *hold) Err() error {
	if h.isMade.Load() {
		return h.made.Err()
	}
	if err := h.Context.Err(); err != nil || !h.ended.Load() {
		return err
	}
	return context.Canceled
}

// Value is that of the context whose end can be waited for: package context finds it so.
func (h *hold) Value(key any) any {
	if h.isMade.Load() {
		return h.made.Value(key)
	}
	return h.Context.Value(key)
}
