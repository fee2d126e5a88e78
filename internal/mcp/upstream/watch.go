package upstream

import (
	"context"
	"sync"
	"time"

	"secateur/internal/mcp/overdue"
)

// watchAfter is how long a call is left alone with its link: most are answered by then. So much later a caller that goes
// away, or what the server says on another stream, is noticed at most.
const watchAfter = 10 * time.Millisecond

// watch sees to what await sees to, the caller's patience and what the server sends, while the caller's own goroutine is busy with
// sending the call. If it gives the call up, that ends. Its goroutine is joined by end.
type watch struct {
	s      *connection     // nil: there is none
	caller context.Context //nolint:containedctx // it is an argument of start, which the queue calls
	c      *call
	limit  time.Duration
	entry  overdue.Entry[*watch]

	mu    sync.Mutex
	ended bool          // guarded by mu; the caller sees to it again
	stop  chan struct{} // guarded by mu; closed to end the goroutine; nil: it was not started
	done  chan struct{} // guarded by mu; closed when it has ended

	reply *Reply // what came of the call; to be read when done is closed, like all below
	err   error
	over  bool // it is
}

// begin watches a call whose sending takes long.
func (w *watch) begin(caller context.Context, s *connection, c *call, limit time.Duration) {
	w.s, w.caller, w.c, w.limit = s, caller, c, limit
	s.late.Add(&w.entry, w)
}

// start begins to wait beside the caller.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go w.run(w.stop, w.done)
}

func (w *watch) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	if w.reply, w.over, w.err = w.s.await(w.caller, w.c, w.limit, stop); w.over {
		w.c.leave() // ends what the caller's goroutine is doing
	}
}

// end gives the call back to its caller, and what came of it if it is over.
func (w *watch) end() (reply *Reply, over bool, err error) {
	if w.s == nil {
		return nil, false, nil
	}
	w.entry.End()
	w.mu.Lock()
	w.ended = true
	started := w.stop != nil
	w.mu.Unlock()
	if !started {
		return nil, false, nil
	}
	close(w.stop)
	<-w.done
	return w.reply, w.over, w.err
}
