package upstream

import "sync"

// workers are goroutines that a link starts for its callers; close joins them.
type workers struct {
	mu     sync.Mutex
	closed bool // guarded by mu
	work   sync.WaitGroup
}

// run starts f in a goroutine; false if they are closed.
func (w *workers) run(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.work.Go(f)
	return true
}

// close takes no more and waits for those that run.
func (w *workers) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.work.Wait()
}
