package pool

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// crew is the goroutines that work for an owner, who waits for them. Work is asked for by callers whose own contexts end
// before it; it is done in the owner's.
type crew struct {
	wake chan struct{} // there are jobs

	mu     sync.Mutex
	jobs   []func(ctx context.Context) // that wait to be begun
	closed bool                        // no more are taken
}

func newCrew() *crew { return &crew{wake: make(chan struct{}, 1)} }

// do has a job done in a goroutine of its own, as soon as the crew works; false if that is over.
func (c *crew) do(job func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.jobs = append(c.jobs, job)
	signal(c.wake)
	return true
}

// work does the jobs until ctx is done, calls last, and returns when no job is left. One that was asked for too late
// finds its context done.
func (c *crew) work(ctx context.Context, last func()) {
	var going sync.WaitGroup
	begin := func(jobs []func(context.Context)) {
		for _, job := range jobs {
			going.Go(func() { job(ctx) })
		}
	}
	for ctx.Err() == nil {
		begin(c.take())
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
	}
	last()
	begin(c.close())
	going.Wait()
}

func (c *crew) take() []func(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := c.jobs
	c.jobs = nil
	return jobs
}

// close takes no more jobs, and returns those that have not begun.
func (c *crew) close() []func(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := c.jobs
	c.jobs, c.closed = nil, true
	return jobs
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// task is work that is done by one goroutine at a time. Asked for while it is being done, it is done once more.
type task struct {
	mu      sync.Mutex
	working bool
	next    chan struct{} // closed after the run that follows the present one; nil: none does
}

// ask has the work done. The channel is closed when a run is over that began after this, or if there will be none.
func (t *task) ask(by *crew, work func(ctx context.Context)) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working {
		if t.next == nil {
			t.next = make(chan struct{})
		}
		return t.next
	}
	done := make(chan struct{})
	t.working = by.do(func(ctx context.Context) { t.loop(ctx, done, work) })
	if !t.working {
		close(done)
	}
	return done
}

func (t *task) loop(ctx context.Context, done chan struct{}, work func(ctx context.Context)) {
	for done != nil {
		work(ctx)
		close(done)
		t.mu.Lock()
		done, t.next = t.next, nil
		t.working = done != nil
		t.mu.Unlock()
	}
}

// backoff gives the waits between attempts: each about twice the one before, from a second to a minute. The zero value
// is ready.
type backoff struct{ failures int }

func (b *backoff) next() time.Duration {
	d := time.Second << min(b.failures, 6)
	b.failures++
	d = min(d, time.Minute)
	return d/2 + rand.N(d/2+1) //nolint:gosec // nothing secret
}

func (b *backoff) reset() { b.failures = 0 }

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
