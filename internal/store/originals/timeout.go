package originals

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxUnderWay bounds what a store that answers no more can hold on to.
const maxUnderWay = 64

// WithPutTimeout gives up on a Put that takes longer than the limit, with ErrUnavailable at that very moment, and
// on a Get when the caller's context ends. What was given up may still finish behind the scenes: such work is
// bounded in number, and Close waits for it.
func WithPutTimeout(store StoreCloser, limit time.Duration) StoreCloser {
	return &timed{store: store, limit: limit, slots: make(chan struct{}, maxUnderWay)}
}

type timed struct {
	store StoreCloser
	limit time.Duration
	slots chan struct{} // one for each call under way in the store
	lost  atomic.Int64  // Puts that were not kept in time, or not at all

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// ID is what Put would return.
func (t *timed) ID(tenant, text string) string { return t.store.ID(tenant, text) }

// Put keeps the text if that does not take too long.
func (t *timed) Put(ctx context.Context, tenant, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
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

// Stats counts what was given up as refused.
func (t *timed) Stats() Stats {
	s := t.store.Stats()
	s.Refused = t.lost.Load()
	return s
}

// Close waits for what is still under way and closes the store.
func (t *timed) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.calls.Wait()
	return t.store.Close()
}

// call runs f on its own and waits for it as long as ctx allows.
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
	done := make(chan outcome, 1) // nobody may be waiting any more
	if !t.start(func() {
		defer func() { <-t.slots }()
		// The store decides when it has had enough; half a write is of no use to anybody.
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
