package upstream

import (
	"context"
	"sync"
	"time"

	"secateur/internal/mcp/overdue"
)

// watchAfter is how long a call is left alone with its link; most are answered by then. A
// cancellation, or a message on another stream, is noticed at most this much later.
const watchAfter = 10 * time.Millisecond

// watch does the work of await while the caller's goroutine is busy sending the call. It handles
// timeout, cancellation and the server's messages. If it abandons the call, sending ends. end joins
// its goroutine.
type watch struct {
	s      *connection     // nil: no watch
	caller context.Context //nolint:containedctx // an argument of start, which the queue calls
	c      *call
	limit  time.Duration
	entry  overdue.Entry[*watch]

	mu    sync.Mutex
	ended bool          // guarded by mu; the caller is in charge again
	stop  chan struct{} // guarded by mu; closed to end the goroutine; nil: not started
	done  chan struct{} // guarded by mu; closed when the goroutine has ended

	reply *Reply // the call's outcome; valid like all fields below once done is closed
	err   error
	over  bool // the call is over
}

// begin watches a call whose sending may take long.
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
		w.c.leave() // ends the work of the caller's goroutine
	}
}

// end returns the call to its caller, with its outcome if it is over.
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
