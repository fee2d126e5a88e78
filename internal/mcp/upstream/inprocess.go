package upstream

import (
	"context"

	"secateur/internal/mcp/wire"
)

// Notifier is a Handler that also sends something of its own accord.
type Notifier interface {
	// Listen begins to gather what is to be sent, until stop is called. Next waits for whole JSON-RPC notifications; its error is ctx's own.
	Listen() (next func(ctx context.Context) ([][]byte, error), stop func())
}

// inProcess is the link to a server inside this program.
type inProcess struct {
	s    *connection
	work workers

	next func(context.Context) ([][]byte, error) // nil: it sends nothing of its own accord
	stop func()
}

// openLocal listens before the server is asked anything: what changes after an answer is heard of.
func openLocal(_ context.Context, s *connection) (link, error) {
	l := &inProcess{s: s, stop: func() {}}
	if n, ok := s.u.opt.Local.(Notifier); ok {
		l.next, l.stop = n.Listen()
	}
	return l, nil
}

func (l *inProcess) run(ctx context.Context) error {
	for l.next != nil {
		messages, err := l.next(ctx)
		if err != nil {
			return errStopped
		}
		for _, m := range messages {
			l.s.receive(ctx, m, source{})
		}
	}
	<-ctx.Done()
	return errStopped
}

// send serves the message in a goroutine of its own, whose context ends with the call.
func (l *inProcess) send(ctx context.Context, m outgoing) error {
	if m.method == methodCancelled {
		return nil
	}
	msg, refused := wire.ParseRequest(m.message, wire.MaxRequestDepth)
	if refused != nil {
		return refused
	}
	do := func() { l.notify(context.WithoutCancel(ctx), &msg) } // a notification is not taken back
	if m.call != nil {
		m.call.stage.Store(sent)
		do = func() { l.call(ctx, &msg, m.call) }
	}
	if !l.work.run(do) {
		return errStopped
	}
	return nil
}

func (l *inProcess) notify(ctx context.Context, msg *wire.Message) {
	if response := l.serve(ctx, msg); response != nil {
		l.s.receive(ctx, response, source{})
	}
}

func (l *inProcess) call(caller context.Context, msg *wire.Message, c *call) {
	c.whole.Store(true) // nothing follows its answer
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	stop := context.AfterFunc(c.beginWork(caller), cancel)
	defer c.endWork()
	defer stop()
	if response := l.serve(ctx, msg); response != nil {
		l.s.receive(ctx, response, source{call: c})
	}
	if !c.isGone(caller) { // else nobody waits for one
		l.s.fail(c, l.s.u.errorf(Invalid, "it gave no answer"))
	}
}

// serve calls the handler; one that panics has answered with an internal error.
func (l *inProcess) serve(ctx context.Context, msg *wire.Message) (response []byte) {
	defer func() {
		if cause := recover(); cause != nil {
			l.s.u.log.ErrorContext(ctx, "built-in server panicked", "method", msg.Method, "cause", cause)
			response = nil
			if msg.Kind() == wire.Request {
				response = wire.NewError(wire.CodeInternal, "internal error").AppendResponse(nil, msg.ID)
			}
		}
	}()
	return l.s.u.opt.Local.Serve(ctx, msg)
}

func (l *inProcess) close() {
	l.stop()
	l.work.close()
}
