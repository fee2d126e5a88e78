package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// hold is a context that ends with its caller's credential. It has no deadline: its expiry is not a
// timeout. Most work finishes before anyone calls Done, so the channel is created on demand.
type hold struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	owner
	in     *held
	expiry *time.Timer // nil: the credential does not expire

	mu     sync.Mutex
	ended  atomic.Bool        // set with mu held
	isMade atomic.Bool        // made and cancel are set; written with mu held
	made   context.Context    //nolint:containedctx // the cancelable context, created on demand
	cancel context.CancelFunc // ends made
}

// end cancels the context.
func (h *hold) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended.Store(true)
	if h.isMade.Load() {
		h.cancel()
	}
}

// release ends the hold after the work.
func (h *hold) release() {
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.end()
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	delete(h.in.open, h)
}

// Done returns a channel that is closed when the work must end.
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

// Err returns why the work must end, or nil.
func (h *hold) Err() error {
	if h.isMade.Load() {
		return h.made.Err()
	}
	if err := h.Context.Err(); err != nil || !h.ended.Load() {
		return err
	}
	return context.Canceled
}

// Value asks the cancelable context first, because package context finds it through Value.
func (h *hold) Value(key any) any {
	if h.isMade.Load() {
		return h.made.Value(key)
	}
	return h.Context.Value(key)
}
