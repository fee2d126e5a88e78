package upstream

import "sync"

// group counts goroutines that callers start, until it is closed.
type group struct {
	mu     sync.Mutex
	closed bool // guarded by mu
	work   sync.WaitGroup
}

// run starts f in a goroutine; false if the group is closed.
func (g *group) run(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.work.Go(f)
	return true
}

// close takes no more and waits for those that run.
func (g *group) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.work.Wait()
}
