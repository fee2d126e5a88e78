package pool

import (
	"context"
	"sync"
	"time"
)

// background runs jobs under its owner's context, and the owner waits for them. The callers that
// start jobs have shorter contexts.
type background struct {
	wake chan struct{} // signals waiting jobs

	mu     sync.Mutex
	jobs   []func(ctx context.Context) // guarded by mu; waiting to be started
	closed bool                        // guarded by mu; no further jobs are accepted
}

func newBackground() *background { return &background{wake: make(chan struct{}, 1)} }

// start runs a job in its own goroutine once run is running. It returns false if run has ended.
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

// run starts jobs until ctx is done, calls last, and returns when no job is left. A job that was
// added too late finds its context done.
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

// close stops accepting jobs and returns those that have not started.
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

// sleep waits for d or until the channel is closed; false if ctx is done.
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
