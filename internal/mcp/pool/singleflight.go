package pool

import (
	"context"
	"sync"
)

// singleflight is work that is done by one goroutine at a time, whoever asks for it. Asked for while it is being done, it
// is done once more.
type singleflight struct {
	mu      sync.Mutex
	working bool
	next    chan struct{} // closed after the run that follows the present one; nil: none does
}

// ask has the work done. The channel is closed when a run is over that began after this, or if there will be none.
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
