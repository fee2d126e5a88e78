package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"secateur/internal/rpc"
)

// errand is a caller that makes an exchange over Streamable HTTP by itself, without a goroutine for it, as long as that
// is a matter of one request and one answer. Meanwhile it cannot listen: who has something for it calls stop or serve.
type errand struct {
	l      *streamable
	c      *call
	caller context.Context //nolint:containedctx // the caller's own, with which its handler is served
	life   context.Context //nolint:containedctx // of the exchange, which may outlast the call by the rest of a stream
	stop   context.CancelFunc
	unhook func() bool
	limit  time.Duration // 0: none
	handed bool          // a goroutine has taken over

	mu    sync.Mutex
	timer *time.Timer // guarded by mu; nil: none
}

// exchangeHere is exchange in the caller's own goroutine.
func (s *session) exchangeHere(caller context.Context, l *streamable, req *rpc.Message, c *call, limit time.Duration) (*Reply, error) {
	ended := make(chan struct{})
	defer close(ended)
	c.ended = ended
	e := &errand{l: l, c: c, caller: caller, limit: limit}
	e.life, e.stop = context.WithCancel(context.WithoutCancel(caller))
	e.unhook = context.AfterFunc(caller, func() {
		if !c.over.Load() { // else what is left of a stream is read, so that its connection can be used again
			e.stop()
		}
	})
	defer e.end()
	c.here.Store(e)
	if err := s.calls.add(c); err != nil {
		return nil, &notSent{s.u.callError(err)}
	}
	e.watch()
	if err := e.run(s.encode(req, c, limit)); err != nil {
		return s.giveUp(caller, c, err)
	}
	c.here.Store(nil)
	if e.handed {
		timer := time.NewTimer(c.left(limit))
		defer timer.Stop()
		if limit == 0 {
			timer.Stop()
		}
		return s.await(caller, c, timer, limit)
	}
	select {
	case o := <-c.answer:
		c.serveRelated(caller) // what came before it
		return c.result(o)
	default:
	}
	if err := caller.Err(); err != nil {
		return s.giveUp(caller, c, err)
	}
	return s.giveUp(caller, c, s.u.timeoutError(limit))
}

// watch has the exchange end when it has lasted too long without a sign of life.
func (e *errand) watch() {
	if e.limit == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(e.limit, func() {
		if e.c.here.Load() != e {
			return
		}
		left := e.c.left(e.limit)
		if left <= 0 {
			e.stop()
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.timer.Reset(left)
	})
}

// end lets go of everything, except where a goroutine still has it.
func (e *errand) end() {
	e.c.here.Store(nil)
	e.mu.Lock()
	if e.timer != nil {
		e.timer.Stop()
	}
	e.mu.Unlock()
	if !e.handed {
		e.unhook()
		e.stop()
	} else if !e.c.over.Load() {
		e.stop()
	}
	if b := e.c.related; b != nil { // whoever serves it is to be done first
		b.turn.Lock()
		b.turn.Unlock() //nolint:staticcheck // nothing is left to be done in it
	}
}

// serve has notifications served that have come for a busy caller.
func (e *errand) serve() {
	e.l.work.run(func() {
		if e.c.related == nil {
			return
		}
		e.c.related.turn.Lock()
		defer e.c.related.turn.Unlock()
		if e.c.here.Load() != e {
			return // the caller does it
		}
		for _, m := range e.c.related.take() {
			e.c.handler.Serve(e.caller, m)
		}
	})
}

// run makes the exchange, or hands it over where it takes more than one answer: a stream, a session to be opened anew. The
// call then gets its outcome later. Else it has it, unless the exchange was stopped.
func (e *errand) run(m outgoing) error {
	l := e.l
	if !l.work.enter() {
		return errStopped
	}
	defer l.work.leave()
	e.c.stage.Store(sent)
	if !l.isSettled() {
		return e.handOver(func() error { return l.attempt(e.life, m) })
	}
	t := l.terms()
	resp, err := l.endpoint.post(e.life, l.header(t, m), &sentBody{data: m.message})
	switch {
	case err != nil:
		err = l.s.u.exchangeError(err, l.endpoint.host)
	case isStream(resp):
		return e.handOver(func() error { return l.takeResponse(e.life, t, m, resp) })
	default:
		err = l.takeResponse(e.life, t, m, resp)
	}
	if errors.Is(err, errSessionLost) {
		return e.handOver(func() error { return l.again(e.life, t, m) })
	}
	if err != nil && e.life.Err() == nil { // else it is known why
		l.s.fail(e.c, l.s.u.callError(err))
	}
	return nil
}

// handOver has a goroutine go on.
func (e *errand) handOver(rest func() error) error {
	e.handed = true
	ok := e.l.work.run(func() {
		defer e.stop()
		defer e.unhook()
		if err := rest(); e.life.Err() == nil { // else it is known why it ended
			e.l.conclude(e.caller, e.c, err)
		}
	})
	if !ok {
		e.handed = false
		return errStopped
	}
	return nil
}
