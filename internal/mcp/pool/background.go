package pool

import (
	"context"
	"sync"
	"time"
)

// background runs jobs under its owner's context, and is joined by it. They are asked for by callers whose own contexts
// end before.
type background struct {
	wake chan struct{} // there are jobs

	mu     sync.Mutex
	jobs   []func(ctx context.Context) // that wait to be begun
	closed bool                        // no more are taken
}

func newBackground() *background { return &background{wake: make(chan struct{}, 1)} }

// start has a job run in a goroutine of its own, as soon as run runs; false if that is over.
func (b *background) start(job func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.jobs = append(b.jobs, job)
	signal(b.wake)
	return true
}

// run runs the jobs until ctx is done, calls last, and returns when no job is left. One that was asked for too late
// finds its context done.
func (b *background) run(ctx context.Context, last func()) {
	var going sync.WaitGroup
	begin := func(jobs []func(context.Context)) {
		for _, job := range jobs {
			going.Go(func() { job(ctx) })
		}
	}
	for ctx.Err() == nil {
		begin(b.take())
		select {
		case <-b.wake:
		case <-ctx.Done():
		}
	}
	last()
	begin(b.close())
	going.Wait()
}

func (b *background) take() []func(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs := b.jobs
	b.jobs = nil
	return jobs
}

// close takes no more jobs, and returns those that have not begun.
func (b *background) close() []func(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs := b.jobs
	b.jobs, b.closed = nil, true
	return jobs
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep waits, or until one of the channels is closed; false: ctx is done.
func sleep(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-until:
	case <-ctx.Done():
		return false
	}
	return true
}
