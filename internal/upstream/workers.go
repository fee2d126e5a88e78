package upstream

import "sync"

// workers are goroutines that a link starts for its callers; close joins them. One that has done its work waits for more:
// a goroutine that has just been started spends longer growing its stack than a small call takes.
type workers struct {
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool        // guarded by mu
	waiting int         // guarded by mu; those that have nothing to do, and no job in jobs
	jobs    chan func() // made with the first worker; closed with mu held; has room for all that wait
}

// maxWaiting is how many workers wait for work.
const maxWaiting = 32

// run has f done in a goroutine; false if they are closed.
func (w *workers) run(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return false
	case w.waiting > 0:
		w.waiting--
		w.jobs <- f
		return true
	case w.jobs == nil:
		w.jobs = make(chan func(), maxWaiting)
	}
	w.work.Go(func() { w.labour(f) })
	return true
}

// enter counts a caller's goroutine among them until it calls leave; false if they are closed.
func (w *workers) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.work.Add(1)
	}
	return !w.closed
}

func (w *workers) leave() { w.work.Done() }

// labour does a job, and the next ones.
func (w *workers) labour(f func()) {
	for more := true; more; f, more = <-w.jobs {
		f()
		if !w.rest() {
			return
		}
	}
}

// rest counts a worker among those that wait; false if it is not needed.
func (w *workers) rest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting == maxWaiting {
		return false
	}
	w.waiting++
	return true
}

// close takes no more and waits for those that run.
func (w *workers) close() {
	w.mu.Lock()
	if !w.closed && w.jobs != nil {
		close(w.jobs)
	}
	w.closed = true
	w.mu.Unlock()
	w.work.Wait()
}
