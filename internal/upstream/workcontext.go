package upstream

import (
	"context"
	"sync"
)

// workContext is a context that is ended by hand. It does what one of context.WithCancel does, and is part of what it belongs to: a small
// call spends a tenth of its memory on making those. Package context knows it by its AfterFunc.
type workContext struct {
	context.Context // what it has its values of, which never ends by itself

	mu    sync.Mutex
	err   error         // guarded by mu; nil: it has not ended
	done  chan struct{} // guarded by mu; closed when it has; nil: nobody waits for that
	after []*endFunc    // guarded by mu
	room  [1]*endFunc   // for after, while there is one
}

// endFunc is called when a context ends.
type endFunc struct {
	of *workContext
	f  func()
}

// end ends it, once.
func (w *workContext) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = context.Canceled
	if w.done != nil {
		close(w.done)
	}
	for _, e := range w.after {
		go e.f()
	}
	w.after = nil
}

// Err is nil until it has ended.
func (w *workContext) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Done is closed when it has ended.
func (w *workContext) Done() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = make(chan struct{})
		if w.err != nil {
			close(w.done)
		}
	}
	return w.done
}

// AfterFunc has f called in a goroutine of its own when it has ended, unless stop is called before, which then reports true.
func (w *workContext) AfterFunc(f func()) (stop func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		go f()
		return func() bool { return false }
	}
	e := &endFunc{w, f}
	if w.after == nil {
		w.after = w.room[:0]
	}
	w.after = append(w.after, e)
	return e.stop
}

func (e *endFunc) stop() bool {
	w := e.of
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.after {
		if other == e {
			last := len(w.after) - 1
			w.after[i], w.after[last] = w.after[last], nil
			w.after = w.after[:last]
			return true
		}
	}
	return false
}

// afterEnd is context.AfterFunc.
func afterEnd(ctx context.Context, f func()) (stop func() bool) {
	if w, ok := ctx.(*workContext); ok {
		return w.AfterFunc(f)
	}
	return context.AfterFunc(ctx, f)
}
