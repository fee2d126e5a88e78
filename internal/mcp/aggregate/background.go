package aggregate

import (
	"context"
	"sync"
)

// background runs jobs that outlive the request that started them, and joins them when the door closes.
type background struct {
	stopping context.Context // done when the door closes
	stop     context.CancelFunc

	mu     sync.Mutex
	closed bool // guarded by mu
	jobs   sync.WaitGroup
}

func newBackground() *background {
	b := &background{}
	b.stopping, b.stop = context.WithCancel(context.Background())
	return b
}

// run starts a job; false if the door is closed.
func (b *background) run(job func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.jobs.Go(job)
	return true
}

// onStop has f called when the door closes, unless the returned function is called before.
func (b *background) onStop(f func()) (forget func() bool) { return context.AfterFunc(b.stopping, f) }

// detach returns a context with the values of ctx that ends with the door, and not with the request.
func (b *background) detach(ctx context.Context) (_ context.Context, end context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(b.stopping, cancel)
	return own, func() {
		unhook()
		cancel()
	}
}

// wait ends the jobs and returns when they have ended.
func (b *background) wait() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.jobs.Wait()
}
