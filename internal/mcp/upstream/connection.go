package upstream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/child"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/overdue"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// link transports messages to and from one server.
type link interface {
	// run passes the server's messages to the connection's receive until the link is unusable, and
	// returns the reason. ctx ends with the connection, after close.
	run(ctx context.Context) error
	// send hands a message over, or fails. For a call it may return before the answer; later work
	// then uses the call's work context. Or it returns with the answer and does its own work in
	// that context (see connection.lingers). If ending that context is how a call is cancelled,
	// notifications/cancelled are not sent.
	send(ctx context.Context, m outgoing) error
	// close ends the link. It returns when only run is left, which then returns too.
	close()
}

// outgoing is one message for a server. The link owns its bytes.
type outgoing struct {
	message  []byte
	method   string        // "": a response
	name     string        // the target: a tool, a prompt, a resource, a task
	version  string        // the protocol version named in a modern request
	call     *call         // nil: a notification or a response
	patience time.Duration // how long it may wait for space in the queue; 0: not at all
}

// connection is a connection to a server, from handshake to end.
type connection struct {
	u      *Upstream
	link   link
	proc   *child.Process // the process behind the link; nil: none of ours
	calls  calls
	peer   atomic.Pointer[Peer] // nil: the server's identity is not known yet
	inbox  inbox
	timers timers // for calls
	late   overdue.Queue[*watch]
	work   sync.WaitGroup // the connection's goroutines
	noise  atomic.Int64   // count of received data that was not a message
	served atomic.Bool    // a caller got an answer

	// lingers is set if the link's send may return with the answer of a call. A small answer is not
	// worth a second goroutine. The opener sets it.
	lingers bool

	stop context.CancelFunc // ends the connection's goroutines
	over chan struct{}      // closed when the link is unusable
	why  error              // the reason; valid once over is closed
}

// opener creates a link that delivers its messages to the connection.
type opener func(ctx context.Context, s *connection) (link, error)

// openConnection opens a link and performs the handshake. It calls begin before the handshake, and
// the function that begin returns after it.
func openConnection(ctx context.Context, u *Upstream, open opener, begin func(context.Context, *connection) func()) (*connection, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := newConnection(u, stop)
	s.work.Go(func() { s.dispatch(life) })
	l, err := open(ctx, s)
	if err != nil {
		s.stop()
		s.work.Wait()
		return nil, err
	}
	s.link = l
	s.work.Go(func() {
		s.why = l.run(life)
		close(s.over)
		s.calls.close(s.u.callError(s.why)) // fail waiting callers immediately
	})
	defer begin(ctx, s)()
	if err := s.handshake(ctx); err != nil {
		err = s.startError(ctx, err)
		s.close(err)
		return nil, &startFailure{err, s.stderr()}
	}
	return s, nil
}

func newConnection(u *Upstream, stop context.CancelFunc) *connection {
	return &connection{
		u: u, stop: stop, inbox: newInbox(u.opt.Incoming), over: make(chan struct{}),
		late: overdue.Queue[*watch]{After: watchAfter, Late: (*watch).start},
	}
}

// pid returns the process id of the server; 0: not our process.
func (s *connection) pid() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.PID()
}

// stderr returns the last lines that the server's process wrote to standard error.
func (s *connection) stderr() string {
	if s.proc == nil {
		return ""
	}
	return s.proc.Stderr(stderrLines)
}

// stderrLines is the number of standard error lines shown for a server that does not start.
const stderrLines = 20

// startFailure is the reason why a connection could not be opened, with the server's standard
// error.
type startFailure struct {
	error
	stderr string
}

func (e *startFailure) Unwrap() error { return e.error }

// close ends the connection. Calls that still wait fail with why.
func (s *connection) close(why error) {
	s.calls.close(s.u.callError(why))
	s.link.close()
	s.stop()
	s.work.Wait()
}

// OutputIsLogged ends the error message for a child that did not start. Its output is for the
// operator; callers learn only where to find it.
const OutputIsLogged = "; what it wrote to its standard error is in the log, and 'secateur logs' shows it"

// startError explains a failed handshake.
func (s *connection) startError(ctx context.Context, err error) error {
	advice := ""
	if s.proc != nil {
		advice = OutputIsLogged
	}
	select {
	case <-s.over:
		return s.u.errorf(Unavailable, "%v before it answered %s%s", s.why, s.u.firstMethod(), advice)
	default:
	}
	if errors.Is(context.Cause(ctx), errStartTimeout) {
		limit := s.u.startupTimeout()
		if s.proc != nil {
			limit *= childPatience
		}
		return s.u.errorf(Unavailable, "it did not answer %s within %s (startup_timeout = %g)%s", s.u.firstMethod(), limit, s.u.startupTimeout().Seconds(), advice)
	}
	return err
}

// do performs one call for a caller.
func (s *connection) do(ctx context.Context, req *wire.Message, opt CallOptions) (*Reply, error) {
	c := newCall(req.ID, wire.IDOf(req.ProgressToken()), opt.Related)
	c.own, c.header, c.by, c.kind = opt.Own, opt.Header, opt.Caller, kind{req.Method, req.Name}
	c.hold = budget.From(ctx)
	limit := s.u.timeout()
	if opt.Patient {
		limit = 0
	}
	return s.roundTrip(ctx, req, c, limit)
}

// roundTrip sends a request and waits for its answer. It tracks signs of life and the caller's
// cancellation. A limit of 0 means no timeout.
func (s *connection) roundTrip(caller context.Context, req *wire.Message, c *call, limit time.Duration) (*Reply, error) {
	defer c.leave()
	if err := s.enter(caller, c); err != nil {
		return nil, &notSent{s.u.callError(err)}
	}
	patience := limit
	if limit == 0 {
		patience = s.u.timeout() // waiting to be sent is still limited
	}
	if s.lingers {
		c.watch.begin(caller, s, c, limit)
	}
	err := s.link.send(caller, s.encode(req, c, patience))
	if reply, over, failed := c.watch.end(); over {
		return reply, failed
	}
	if err != nil {
		return s.giveUp(caller, c, err)
	}
	reply, _, err := s.await(caller, c, limit, nil)
	return reply, err
}

// await waits for the outcome of a call in flight, until stop is closed.
func (s *connection) await(caller context.Context, c *call, limit time.Duration, stop <-chan struct{}) (reply *Reply, over bool, err error) {
	select {
	case o := <-c.answer:
		c.serveRelated(caller)
		reply, err = c.result(o)
		return reply, true, err
	default:
	}
	var related <-chan struct{}
	if c.related != nil {
		related = c.related.signal()
	}
	var timer *time.Timer
	var late <-chan time.Time
	if limit > 0 {
		timer = s.timers.start(c.left(limit))
		defer s.timers.stop(timer)
		late = timer.C
	}
	for {
		select {
		case o := <-c.answer:
			c.serveRelated(caller) // serve the notifications that came before the answer
			reply, err = c.result(o)
			return reply, true, err
		case <-related:
			c.serveRelated(caller)
		case <-caller.Done():
			reply, err = s.giveUp(caller, c, caller.Err())
			return reply, true, err
		case <-stop:
			return nil, false, nil
		case <-late:
			if left := c.left(limit); left > 0 {
				timer.Reset(left)
				continue
			}
			reply, err = s.giveUp(caller, c, s.u.timeoutError(limit))
			return reply, true, err
		}
	}
}

// notSent is a call that failed before anything reached the server. It may be retried.
type notSent struct{ *CallError }

func (e *notSent) Unwrap() error { return e.CallError }

func (c *call) result(o outcome) (*Reply, error) {
	if o.err != nil && c.stage.CompareAndSwap(queued, dropped) {
		if failed, ok := errors.AsType[*CallError](o.err); ok {
			return nil, &notSent{failed}
		}
	}
	return o.reply, o.err
}

// encode writes a request, or without a call a notification. The call's number becomes its id and
// progress token. It adds what the server's era requires.
func (s *connection) encode(req *wire.Message, c *call, patience time.Duration) outgoing {
	out := outgoing{method: req.Method, name: target(req), call: c, patience: patience}
	var r wire.Rewrite
	if c != nil {
		id := wire.NumberID(c.number)
		r.ID, r.ProgressToken = id, id
	}
	if s.era() == era.Modern {
		r.Meta, out.version = modernMeta(s.u, req.Meta())
	}
	out.message = req.AppendRewritten(make([]byte, 0, len(req.Raw)+len(r.Meta)+64), r)
	return out
}

// target returns the target of a request for the headers of the modern era.
func target(req *wire.Message) string {
	switch req.Method {
	case "tools/call", "prompts/get":
		return req.Name
	case "resources/read":
		return req.URI
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return req.Task
	}
	return ""
}

// serveRelated passes the pending notifications to the handler.
func (c *call) serveRelated(ctx context.Context) {
	if c.related == nil {
		return
	}
	for _, m := range c.related.take() {
		c.handler.Serve(ctx, m)
	}
}

// giveUp abandons a call and tells the server, unless the answer has just arrived.
func (s *connection) giveUp(ctx context.Context, c *call, why error) (*Reply, error) {
	if !s.calls.remove(c) {
		return c.result(<-c.answer)
	}
	if c.stage.CompareAndSwap(queued, dropped) {
		return nil, why // the server never sees it
	}
	reason := "timeout"
	if ctx.Err() != nil {
		reason = "cancelled by the client"
	}
	m := outgoing{message: cancelledNotice(c.number, reason), method: methodCancelled}
	if err := s.link.send(context.WithoutCancel(ctx), m); err != nil {
		s.u.log.DebugContext(ctx, "cancel not sent", "err", err)
	}
	return nil, why
}

// fail ends a call with an error, unless it already has an outcome.
func (s *connection) fail(c *call, err error) {
	if s.calls.remove(c) {
		c.give(outcome{err: err})
	}
}

// protocol returns the protocol version in use; "": not known yet.
func (s *connection) protocol() string {
	if p := s.peer.Load(); p != nil {
		return p.Protocol
	}
	return ""
}

func (s *connection) era() era.Era {
	if p := s.peer.Load(); p != nil {
		return p.Era
	}
	return era.Legacy
}

// notify sends a caller's notification.
func (s *connection) notify(ctx context.Context, n *wire.Message) error {
	if n.Method == methodCancelled {
		return nil
	}
	return s.link.send(ctx, s.encode(n, nil, s.u.timeout()))
}

const methodCancelled = "notifications/cancelled"

func cancelledNotice(number int64, reason string) []byte {
	params := rawjson.Object{'{'}
	params.Int("requestId", number)
	params.Text("reason", reason)
	return wire.NewNotification(methodCancelled, append(params, '}')).Raw
}
