package upstream

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"secateur/internal/rpc"
)

const (
	methodPing     = "ping"
	methodProgress = "notifications/progress"
)

const (
	inboxRoom    = 1024 // messages that wait for the handler; more are dropped or refused
	inboxServing = 64   // requests of a server that are served at one time
)

// inbox holds what a server sends of its own accord, until a handler takes it.
type inbox struct {
	handler Handler // for what no call's handler takes; nil: there is none
	waiting chan inbound
}

type inbound struct {
	msg     *rpc.Message
	handler Handler
	call    *call // that the server cannot go on with until it has its answer; nil: not known
}

func newInbox(h Handler) inbox { return inbox{handler: h, waiting: make(chan inbound, inboxRoom)} }

// receive takes one message from the server. Its bytes are the session's from now on. On HTTP, from says where it came.
func (s *session) receive(ctx context.Context, raw []byte, from source) {
	msg, err := s.u.parse(raw)
	if err != nil {
		s.unreadable(ctx, &msg, err, len(raw))
		return
	}
	switch msg.Kind() {
	case rpc.Response:
		if !s.answered(ctx, &msg, from.status) && from.call != nil {
			from.call.strays.Add(1)
		}
	case rpc.Request:
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

// answered gives an answer to the call that waits for it. One that nobody waits for, or no more, is dropped.
func (s *session) answered(ctx context.Context, msg *rpc.Message, status int) bool {
	c := s.calls.take(msg.ID)
	if c == nil {
		s.u.log.DebugContext(ctx, "answer to no call dropped")
		return false
	}
	if !c.own && !s.served.Load() {
		s.served.Store(true)
	}
	c.over.Store(true)
	c.answer <- outcome{reply: &Reply{Message: msg.WithID(c.id), HTTPStatus: status}}
	return true
}

// unreadable takes what is no JSON-RPC. If it seems to answer a call, that call fails.
func (s *session) unreadable(ctx context.Context, seen *rpc.Message, err error, size int) {
	s.noise.Add(1)
	s.u.log.DebugContext(ctx, "not a message", "bytes", size, "err", err)
	if c := s.calls.take(seen.ID); c != nil {
		c.answer <- outcome{err: s.u.errorf(Invalid, "its answer is not valid JSON-RPC: %v", err)}
	}
}

// tooLong fails the call that a message over the size limit answered.
func (s *session) tooLong(ctx context.Context, e *rpc.TooLongError) {
	s.u.log.WarnContext(ctx, "message over max_message_bytes dropped", "bytes", e.Size, "max_message_bytes", e.Limit)
	switch {
	case !e.IsCall:
		if c := s.calls.take(e.ID); c != nil {
			c.answer <- outcome{err: s.u.tooLongError()}
		}
	case !e.ID.IsZero():
		s.respond(ctx, rpc.NewError(rpc.CodeInvalidRequest, "the request is too long").AppendResponse(nil, e.ID), 0)
	}
}

func (s *session) notified(ctx context.Context, msg *rpc.Message, origin *call) {
	if msg.Method == methodProgress {
		if c := s.calls.find(rpc.IDOf(msg.ProgressToken())); c != nil && !c.token.IsZero() {
			c.renew()
			s.relate(ctx, c, msg)
			return
		}
	}
	if c := s.related(msg.Method, origin); c != nil {
		c.renew()
		c.offer(msg)
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

// relate gives a call's handler its progress, under the token that its caller chose.
func (s *session) relate(ctx context.Context, c *call, msg *rpc.Message) {
	if c.related == nil {
		return
	}
	raw := msg.AppendRewritten(nil, rpc.Rewrite{ProgressToken: c.token})
	mapped, err := rpc.ParseServer(raw, 0)
	if err != nil {
		s.u.log.DebugContext(ctx, "progress dropped", "err", err)
		return
	}
	c.offer(&mapped)
}

func (c *call) offer(msg *rpc.Message) {
	select {
	case c.related <- msg:
	default: // its caller does not keep up
	}
}

// related is the call with a handler that a message of the server belongs to: by the stream it came on or, without
// streams, because there is no other. News about the server itself belong to none.
func (s *session) related(method string, origin *call) *call {
	if origin == nil && (method == "notifications/message" || isRequest(method)) {
		origin = s.calls.only()
	}
	if origin == nil || origin.handler == nil {
		return nil
	}
	return origin
}

func isRequest(method string) bool {
	const prefix = "notifications/"
	return len(method) < len(prefix) || method[:len(prefix)] != prefix
}

func (s *session) requested(ctx context.Context, msg *rpc.Message, origin *call) {
	if msg.Method == methodPing {
		s.respond(ctx, rpc.AppendResult(nil, msg.ID, []byte(`{}`)), 0)
		return
	}
	in := inbound{msg: msg, handler: s.inbox.handler, call: origin}
	if in.call == nil {
		in.call = s.calls.only()
	}
	if c := s.related(msg.Method, origin); c != nil {
		in.handler = c.handler
	}
	if in.handler == nil {
		s.refuse(ctx, msg, rpc.CodeMethodNotFound, "this client offers nothing to servers")
		return
	}
	if in.call != nil {
		in.call.asking.Add(1)
	}
	select {
	case s.inbox.waiting <- in:
	default:
		in.answered()
		s.refuse(ctx, msg, rpc.CodeInternal, "too many requests wait for this client")
	}
}

// answered lets the call's time run again.
func (in *inbound) answered() {
	if in.call != nil {
		in.call.renew()
		in.call.asking.Add(-1)
	}
}

func (s *session) refuse(ctx context.Context, msg *rpc.Message, code int, text string) {
	s.respond(ctx, rpc.NewError(code, text).AppendResponse(nil, msg.ID), 0)
}

// respond sends an answer to the server. One that does not read its answers loses them; who reads the server's messages
// must not wait for it and has no patience.
func (s *session) respond(ctx context.Context, response []byte, patience time.Duration) {
	if err := s.link.send(ctx, outgoing{message: response, patience: patience}); err != nil {
		s.u.log.DebugContext(ctx, "answer to the server not sent", "err", err)
	}
}

// dispatch gives messages to their handlers: notifications one after the other, requests side by side.
func (s *session) dispatch(ctx context.Context) {
	var serving errgroup.Group
	serving.SetLimit(inboxServing)
	defer func() { _ = serving.Wait() }()
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-s.inbox.waiting:
			if in.msg.Kind() == rpc.Notification {
				in.handler.Serve(ctx, in.msg)
				continue
			}
			serving.Go(func() error {
				defer in.answered()
				if response := in.handler.Serve(ctx, in.msg); response != nil && ctx.Err() == nil {
					s.respond(ctx, response, s.u.timeout)
				}
				return nil
			})
		}
	}
}
