package originals

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxUnderWay limits the calls that a hanging store can hold.
const maxUnderWay = 64

// WithPutTimeout makes Put fail with ErrUnavailable after the limit, and Get when the caller's
// context ends. The limit is for each started MiB of a text. An abandoned call may still finish in the background. Such calls are limited in
// number, and Close waits for them.
func WithPutTimeout(store StoreCloser, limit time.Duration) StoreCloser {
	return &timed{store: store, limit: limit, slots: make(chan struct{}, maxUnderWay)}
}

type timed struct {
	store StoreCloser
	limit time.Duration
	slots chan struct{} // one for each running call
	lost  atomic.Int64  // failed or timed-out Puts

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// ID returns the id that Put would return.
func (t *timed) ID(tenant, text string) string { return t.store.ID(tenant, text) }

// Put stores the text within the time limit.
func (t *timed) Put(ctx context.Context, tenant, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit*time.Duration(1+len(text)>>20))
	defer cancel()
	id, err := t.call(ctx, func(ctx context.Context) (string, error) { return t.store.Put(ctx, tenant, text) })
	if err != nil {
		t.lost.Add(1)
	}
	return id, err
}

// Get returns the text.
func (t *timed) Get(ctx context.Context, tenant, id string) (string, error) {
	return t.call(ctx, func(ctx context.Context) (string, error) { return t.store.Get(ctx, tenant, id) })
}

// Stats counts timed-out Puts as refused.
func (t *timed) Stats() Stats {
	s := t.store.Stats()
	s.Refused = t.lost.Load()
	return s
}

// Close waits for running calls and closes the store.
func (t *timed) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.calls.Wait()
	return t.store.Close()
}

// call runs f in a goroutine and waits for it until ctx is done.
func (t *timed) call(ctx context.Context, f func(context.Context) (string, error)) (string, error) {
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return "", tooLate(ctx)
	}
	type outcome struct {
		answer string
		err    error
	}
	done := make(chan outcome, 1) // buffered: the receiver may be gone
	if !t.start(func() {
		defer func() { <-t.slots }()
		// The store has its own timeouts; an interrupted write helps no one.
		answer, err := f(context.WithoutCancel(ctx))
		done <- outcome{answer, err}
	}) {
		<-t.slots
		return "", ErrUnavailable
	}
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // just in time
		return o.answer, o.err
	default:
		return "", tooLate(ctx)
	}
}

func (t *timed) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.calls.Go(f)
	return true
}

func tooLate(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
}
