package upstream

// JSON-RPC 2.0 and MCP, "Base protocol": requests and notifications from a server, including "Ping"
// and "Cancellation".

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
	inboxRoom    = 1024 // messages waiting for the handler; further ones are dropped or refused
	inboxServing = 1024 // unanswered requests from a server; further ones are refused
)

// inbox holds a server's requests and notifications until a handler takes them.
type inbox struct {
	handler Handler // for messages that no call's handler takes; nil: none
	waiting chan inbound
	serving chan struct{} // holds a token for each unanswered request
	asked   wire.InFlight // those requests
}

type inbound struct {
	msg     *wire.Message
	handler Handler
	wanted  context.Context // of a request; ends when the server cancels it
	done    func()          // releases wanted
	origin  *call           // the call on whose stream it came; nil: none
	calls   []*call         // calls that may be waiting for the answer
	// calls whose handler serves it; when the last one ends, so does the request; nil: no call's
	owners []*call
}

// errWithdrawn is the cause when the server cancels its own request.
var errWithdrawn = errors.New("cancelled by the server")

// withdrawn reports whether the server has cancelled its request.
func (in *inbound) withdrawn() bool { return errors.Is(context.Cause(in.wanted), errWithdrawn) }

func newInbox(h Handler) inbox {
	return inbox{handler: h, waiting: make(chan inbound, inboxRoom), serving: make(chan struct{}, inboxServing)}
}

// receive handles one message from the server and takes ownership of its bytes. Over HTTP, from
// says where it arrived.
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

// source says where a message arrived: the call on whose stream it came, and the stream's HTTP
// status. It is zero if one stream serves all calls.
type source struct {
	call   *call
	status int
}

// answered passes a response to the waiting call. Responses without a pending call are dropped.
// buffer, if not nil, is the buffer.Get buffer that holds the message; the reply then owns it.
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
	// a message in a buffer was counted as it arrived
	if buffer == nil && c.hold.Grow(int64(len(msg.Raw))) != nil {
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

// unreadable handles data that is not JSON-RPC. If it seems to answer a call, that call fails.
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

// skippedError returns the error for a call whose answer was too long or did not fit the budget.
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
		in.calls = s.calls.callers() // any of them may wait for the answer
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
	// it outlives the stream on which it arrived
	in.wanted, in.done = s.inbox.asked.Begin(context.WithoutCancel(ctx), msg.ID)
	select {
	case s.inbox.waiting <- in:
	default:
		s.unasked(&in)
		s.refuse(ctx, msg, wire.CodeInternal, "too many messages wait for this client")
	}
}

// unasked resumes the timeouts of the calls that may have waited for a request's answer.
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

// respond sends an answer to the server. If the server does not read its answers, they are lost.
// The goroutine that reads the server's messages must not block here and passes no patience.
func (s *connection) respond(ctx context.Context, response []byte, patience time.Duration) {
	if err := s.link.send(ctx, outgoing{message: response, patience: patience}); err != nil {
		s.u.log.DebugContext(ctx, "answer to the server not sent", "err", err)
	}
}

// dispatch passes messages to their handlers: notifications in order, requests concurrently. A slow
// request, such as one that asks a person, does not delay anything else.
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
				if response == nil { // the server must not wait forever
					response = wire.NewError(wire.CodeInternal, "there is no answer").AppendResponse(nil, in.msg.ID)
				}
				if ctx.Err() == nil {
					s.respond(ctx, response, s.u.timeout())
				}
			})
		}
	}
}

// serve answers a request. It ends when the owning calls end or the server cancels the request.
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
	defer context.AfterFunc(in.wanted, cancel)() //nolint:contextcheck // several lifetimes end this one: the connection's, the request's and its calls'
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
