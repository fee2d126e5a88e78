package upstream

// JSON-RPC 2.0 and MCP, "Base protocol": requests and notifications of a server, "Ping" and "Cancellation" included.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/wire"
)

const (
	methodPing     = "ping"
	methodProgress = "notifications/progress"
)

const (
	inboxRoom    = 1024 // messages that wait for the handler; more are dropped or refused
	inboxServing = 1024 // requests of a server that are not answered yet; more are refused
)

// inbox holds what a server sends of its own accord, until a handler takes it.
type inbox struct {
	handler Handler // for what no call's handler takes; nil: there is none
	waiting chan inbound
	serving chan struct{} // a token for each request that is not answered yet
	asked   wire.InFlight // those requests
}

type inbound struct {
	msg     *wire.Message
	handler Handler
	wanted  context.Context // of a request; ends when the server cancels it
	done    func()          // lets go of wanted
	origin  *call           // on whose stream it came; nil: on none
	calls   []*call         // that the server may not go on with until it has its answer
	owners  []*call         // whose handler it is: with the last of them ends the wait for an answer; nil: no call's
}

// errWithdrawn is why a request of the server is no longer wanted that it has cancelled.
var errWithdrawn = errors.New("cancelled by the server")

// withdrawn reports whether the server has cancelled its request.
func (in *inbound) withdrawn() bool { return errors.Is(context.Cause(in.wanted), errWithdrawn) }

func newInbox(h Handler) inbox {
	return inbox{handler: h, waiting: make(chan inbound, inboxRoom), serving: make(chan struct{}, inboxServing)}
}

// receive takes one message from the server. Its bytes are the connection's from now on. On HTTP, from says where it came.
func (s *connection) receive(ctx context.Context, raw []byte, from source) {
	msg, err := s.u.parse(raw)
	if err != nil {
		s.unreadable(ctx, &msg, err, len(raw))
		return
	}
	switch msg.Kind() {
	case wire.Response:
		if !s.answered(ctx, &msg, from.status, nil) && from.call != nil {
			from.call.strays.Add(1)
		}
	case wire.Request:
		s.requested(ctx, &msg, from.call)
	default:
		s.notified(ctx, &msg, from.call)
	}
}

// source is where a message came from: the call on whose stream it is, and that stream's HTTP status. Zero where
// there is one stream for all.
type source struct {
	call   *call
	status int
}

// answered gives an answer to the call that waits for it. One that nobody waits for, or no more, is dropped. A buffer
// of buffer.Get that the message stands in is then the reply's; nil: it stands in none.
func (s *connection) answered(ctx context.Context, msg *wire.Message, status int, buffer []byte) bool {
	c := s.calls.take(msg.ID)
	if c == nil {
		s.u.log.DebugContext(ctx, "answer to no call dropped")
		return false
	}
	if !c.own && !s.served.Load() {
		s.served.Store(true)
	}
	c.over.Store(true)
	if buffer == nil && c.hold.Grow(int64(len(msg.Raw))) != nil { // one in a buffer was counted as it came
		c.give(outcome{err: s.u.overloadedError()})
		return true
	}
	reply := &Reply{Message: *msg, HTTPStatus: status, buffer: buffer}
	if !reply.SetID(buffer, c.id) {
		reply.Message = msg.WithID(c.id)
	}
	c.give(outcome{reply: reply})
	return true
}

// unreadable takes what is no JSON-RPC. If it seems to answer a call, that call fails.
func (s *connection) unreadable(ctx context.Context, seen *wire.Message, err error, size int) {
	s.noise.Add(1)
	s.u.garbage.Warn(ctx, s.u.log, "server writes what is no message", "bytes", size, "err", err)
	if c := s.calls.take(seen.ID); c != nil {
		c.give(outcome{err: s.u.errorf(Invalid, "its answer is not valid JSON-RPC: %v", err)})
	}
}

// tooLong fails the call that a message over the size limit answered.
func (s *connection) tooLong(ctx context.Context, e *wire.TooLongError) {
	refusal := wire.NewError(wire.CodeInvalidRequest, "the request is too long")
	if e.NoRoom {
		refusal = wire.NewError(wire.CodeOverloaded, "there is no room for the request now")
		s.u.tooLarge.Warn(ctx, s.u.log, "message dropped that there is no memory for now", "bytes", e.Size)
	} else {
		s.u.tooLarge.Warn(ctx, s.u.log, "message over max_message_bytes dropped", "bytes", e.Size, "max_message_bytes", e.Limit)
	}
	switch {
	case !e.IsCall:
		if c := s.calls.take(e.ID); c != nil {
			c.give(outcome{err: s.u.skippedError(e)})
		}
	case !e.ID.IsZero():
		s.respond(ctx, refusal.AppendResponse(nil, e.ID), 0)
	}
}

// skippedError is the one for a call whose answer was too long, or had no room.
func (u *Upstream) skippedError(e *wire.TooLongError) *CallError {
	if e.NoRoom {
		return u.overloadedError()
	}
	return u.tooLongError()
}

func (s *connection) notified(ctx context.Context, msg *wire.Message, origin *call) {
	if msg.Method == methodProgress {
		s.progressed(ctx, msg, origin)
		return
	}
	if msg.Method == methodCancelled && s.inbox.asked.Cancel(msg.RequestID(), errWithdrawn) {
		return
	}
	if announced := s.u.opt.Announced; announced != nil && strings.HasSuffix(msg.Method, "/list_changed") {
		announced(msg.Method)
	}
	if c := s.subscription(msg); c != nil {
		if msg = s.remade(ctx, msg, wire.Rewrite{Meta: subscriptionMeta(c.id)}); msg == nil {
			return
		}
		origin = c
	}
	if c := s.related(msg.Method, origin); c != nil {
		c.renew()
		s.offer(ctx, c, msg)
		return
	}
	if s.inbox.handler == nil {
		return
	}
	select {
	case s.inbox.waiting <- inbound{msg: msg, handler: s.inbox.handler}:
	default:
		s.u.log.DebugContext(ctx, "notification dropped: too many wait", "method", msg.Method)
	}
}

func (s *connection) requested(ctx context.Context, msg *wire.Message, origin *call) {
	if msg.Method == methodPing {
		s.respond(ctx, wire.AppendResult(nil, msg.ID, []byte(`{}`)), 0)
		return
	}
	if refuses := s.u.opt.Refuses; refuses != nil && refuses(msg.Method) {
		s.refuse(ctx, msg, wire.CodeMethodNotFound, "nobody is asked that")
		return
	}
	in := inbound{msg: msg, handler: s.inbox.handler, origin: origin}
	if origin != nil {
		in.calls = []*call{origin}
	} else {
		in.calls = s.calls.callers() // any of them may be the one that waits for the answer
	}
	if origin != nil && origin.handler != nil {
		in.handler, in.owners = origin.handler, in.calls
	}
	if in.handler == nil && len(in.calls) == 0 {
		s.refuse(ctx, msg, wire.CodeMethodNotFound, "this client offers nothing to servers")
		return
	}
	select {
	case s.inbox.serving <- struct{}{}:
	default:
		s.refuse(ctx, msg, wire.CodeInternal, "too many requests wait for this client")
		return
	}
	for _, c := range in.calls {
		c.asking.Add(1)
	}
	in.wanted, in.done = s.inbox.asked.Begin(context.WithoutCancel(ctx), msg.ID) // it does not end with the stream that it came on
	select {
	case s.inbox.waiting <- in:
	default:
		s.unasked(&in)
		s.refuse(ctx, msg, wire.CodeInternal, "too many messages wait for this client")
	}
}

// unasked lets the time of the calls run again that may have waited for a request's answer.
func (s *connection) unasked(in *inbound) {
	for _, c := range in.calls {
		c.renew()
		c.asking.Add(-1)
	}
	in.done()
	<-s.inbox.serving
}

func (s *connection) refuse(ctx context.Context, msg *wire.Message, code int, text string) {
	s.respond(ctx, wire.NewError(code, text).AppendResponse(nil, msg.ID), 0)
}

// respond sends an answer to the server. One that does not read its answers loses them; who reads the server's messages
// must not wait for it and has no patience.
func (s *connection) respond(ctx context.Context, response []byte, patience time.Duration) {
	if err := s.link.send(ctx, outgoing{message: response, patience: patience}); err != nil {
		s.u.log.DebugContext(ctx, "answer to the server not sent", "err", err)
	}
}

// dispatch gives messages to their handlers: notifications one after the other, requests side by side, so that one
// whose answer takes long, because a person is asked for it, keeps nothing else waiting.
func (s *connection) dispatch(ctx context.Context) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-s.inbox.waiting:
			if in.msg.Kind() == wire.Notification {
				in.handler.Serve(ctx, in.msg)
				continue
			}
			serving.Go(func() {
				defer s.unasked(&in)
				response := s.serve(ctx, &in)
				if in.withdrawn() {
					return
				}
				if response == nil { // a server must not wait for ever for an answer that never comes
					response = wire.NewError(wire.CodeInternal, "there is no answer").AppendResponse(nil, in.msg.ID)
				}
				if ctx.Err() == nil {
					s.respond(ctx, response, s.u.timeout())
				}
			})
		}
	}
}

// serve has a request answered, which may take as long as the call lasts that it belongs to, and as long as the server
// wants it.
func (s *connection) serve(ctx context.Context, in *inbound) []byte {
	refusal := s.attribute(ctx, in)
	if refusal == "" && in.handler == nil {
		refusal = "this client offers nothing to servers"
	}
	if refusal != "" {
		s.u.log.DebugContext(ctx, "request of the server refused", "method", in.msg.Method, "reason", refusal)
		return wire.NewError(wire.CodeMethodNotFound, refusal).AppendResponse(nil, in.msg.ID)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(in.wanted, cancel)() //nolint:contextcheck // more lives end this one: the connection's, the request's and its calls'
	var left atomic.Int32
	left.Store(int32(len(in.owners))) //nolint:gosec // a few
	for _, c := range in.owners {
		defer c.afterLeave(func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})()
	}
	return in.handler.Serve(ctx, in.msg)
}
