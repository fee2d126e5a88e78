package pool

import (
	"context"
	"sync"
)

// singleflight runs work in one goroutine at a time, for any number of callers. If it is requested
// while running, it runs once more afterwards.
type singleflight struct {
	mu      sync.Mutex
	working bool
	next    chan struct{} // closed after the run that follows the current one; nil: none follows
}

// ask requests a run. The channel is closed when a run that began after this call has ended, or if
// none will run.
func (t *singleflight) ask(by *background, work func(ctx context.Context)) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working {
		if t.next == nil {
			t.next = make(chan struct{})
		}
		return t.next
	}
	done := make(chan struct{})
	t.working = by.start(func(ctx context.Context) { t.loop(ctx, done, work) })
	if !t.working {
		close(done)
	}
	return done
}

func (t *singleflight) loop(ctx context.Context, done chan struct{}, work func(ctx context.Context)) {
	for done != nil {
		work(ctx)
		close(done)
		t.mu.Lock()
		done, t.next = t.next, nil
		t.working = done != nil
		t.mu.Unlock()
	}
}
