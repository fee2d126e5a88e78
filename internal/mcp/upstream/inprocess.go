package upstream

import (
	"context"

	"secateur/internal/mcp/wire"
)

// Notifier is a Handler that also sends notifications.
type Notifier interface {
	// Listen starts collecting notifications until stop is called. next waits for complete JSON-RPC
	// notifications; its error is ctx's own.
	Listen() (next func(ctx context.Context) ([][]byte, error), stop func())
}

// inProcess is the link to a server inside this program.
type inProcess struct {
	s    *connection
	work workers

	next func(context.Context) ([][]byte, error) // nil: the server sends no notifications
	stop func()
}

// openLocal subscribes before the first request, so that no change after an answer is missed.
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

// send serves the message in a new goroutine, whose context ends with the call.
func (l *inProcess) send(ctx context.Context, m outgoing) error {
	if m.method == methodCancelled {
		return nil
	}
	msg, refused := wire.ParseRequest(m.message, wire.MaxRequestDepth)
	if refused != nil {
		return refused
	}
	do := func() { l.notify(context.WithoutCancel(ctx), &msg) } // a notification is not cancelled
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
	if !c.isGone(caller) { // otherwise no caller waits
		l.s.fail(c, l.s.u.errorf(Invalid, "it gave no answer"))
	}
}

// serve calls the handler. A panic becomes an internal error response.
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
