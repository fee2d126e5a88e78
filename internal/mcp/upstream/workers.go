package upstream

import "sync"

// workers are goroutines that a link starts for its callers. close joins them.
type workers struct {
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool // guarded by mu
}

// run calls f in a goroutine. It returns false after close.
func (w *workers) run(f func()) bool {
	if !w.enter() {
		return false
	}
	go func() {
		defer w.leave()
		f()
	}()
	return true
}

// enter counts the caller's goroutine as a worker until leave. It returns false after close.
func (w *workers) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.work.Add(1)
	}
	return !w.closed
}

func (w *workers) leave() { w.work.Done() }

// close refuses further work and waits for the running goroutines.
func (w *workers) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.work.Wait()
}
