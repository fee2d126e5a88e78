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

// link moves messages between us and one server.
type link interface {
	// run gives what the server sends to the connection's receive, until the link is of no more use; it says why that is.
	// ctx ends with the connection, after close.
	run(ctx context.Context) error
	// send hands a message over, or fails. For a call it may return before the answer, and what is then done for it has the
	// call's work context; or with it, and what it does itself has that (see connection.lingers). Where ending that is how a call
	// is cancelled, a notifications/cancelled goes nowhere.
	send(ctx context.Context, m outgoing) error
	// close ends the link and returns when nothing is left of it but run, which then returns.
	close()
}

// outgoing is one message for a server. Its bytes are the link's.
type outgoing struct {
	message  []byte
	method   string        // "" for a response
	name     string        // what the request is about: a tool, a prompt, a resource, a task
	version  string        // the protocol version that a modern request names
	call     *call         // nil for notifications and responses
	patience time.Duration // how long it may wait for room; 0: not at all
}

// connection is one to a server, from its handshake to its end.
type connection struct {
	u      *Upstream
	link   link
	proc   *child.Process // what the link leads to; nil: no process of ours
	calls  calls
	peer   atomic.Pointer[Peer] // nil before it is known what the server is
	inbox  inbox
	timers timers // of calls
	late   overdue.Queue[*watch]
	work   sync.WaitGroup // goroutines of the connection
	noise  atomic.Int64   // what came and was no message
	served atomic.Bool    // a caller got an answer

	// lingers says that the link's send may return with the answer of a call: a small answer is not worth a second goroutine.
	// Set by whoever opens the link.
	lingers bool

	stop context.CancelFunc // ends those goroutines
	over chan struct{}      // closed when the link is of no more use
	why  error              // that is; to be read when over is closed
}

// opener makes a link whose messages go to the connection.
type opener func(ctx context.Context, s *connection) (link, error)

// openConnection connects and shakes hands, which begin is told of. What that returns is called when it is done.
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
		s.calls.close(s.u.callError(s.why)) // who waits for an answer is told at once
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

// pid is that of the server's process; 0: it is none of ours.
func (s *connection) pid() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.PID()
}

// stderr is the end of what the server's process wrote to its standard error.
func (s *connection) stderr() string {
	if s.proc == nil {
		return ""
	}
	return s.proc.Stderr(stderrLines)
}

// stderrLines is how much of its standard error is shown of a server that does not start.
const stderrLines = 20

// startFailure is why a connection could not be opened, and what the server said on its standard error.
type startFailure struct {
	error
	stderr string
}

func (e *startFailure) Unwrap() error { return e.error }

// close ends the connection: calls that still wait fail with why.
func (s *connection) close(why error) {
	s.calls.close(s.u.callError(why))
	s.link.close()
	s.stop()
	s.work.Wait()
}

// OutputIsLogged ends the message of a child that did not start: what it wrote is for the operator, and its callers are told
// where that is.
const OutputIsLogged = "; what it wrote to its standard error is in the log, and 'secateur logs' shows it"

// startError explains a handshake that did not succeed.
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

// do makes one call of a caller.
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

// roundTrip sends a request and waits for its answer, for signs of life, and for the caller to lose interest. A limit
// of 0 is none.
func (s *connection) roundTrip(caller context.Context, req *wire.Message, c *call, limit time.Duration) (*Reply, error) {
	defer c.leave()
	if err := s.enter(caller, c); err != nil {
		return nil, &notSent{s.u.callError(err)}
	}
	patience := limit
	if limit == 0 {
		patience = s.u.timeout() // for room to be sent there is one
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

// await waits for the outcome of a call that is on its way, unless it is told to stop.
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
			c.serveRelated(caller) // what came before it
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

// notSent is a call that failed before anything of it reached the server: it may be made again.
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

// encode writes a request, or with no call a notification, with the call's number as id and progress token and with
// what the server's era wants.
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

// target is what a request is about, as the headers of the modern era want it.
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

// serveRelated gives the handler the notifications that have come.
func (c *call) serveRelated(ctx context.Context) {
	if c.related == nil {
		return
	}
	for _, m := range c.related.take() {
		c.handler.Serve(ctx, m)
	}
}

// giveUp ends the wait for a call without an answer and tells the server, unless the answer has just come.
func (s *connection) giveUp(ctx context.Context, c *call, why error) (*Reply, error) {
	if !s.calls.remove(c) {
		return c.result(<-c.answer)
	}
	if c.stage.CompareAndSwap(queued, dropped) {
		return nil, why // the server has not seen it and never will
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

// fail ends a call with an error, unless it has its outcome already.
func (s *connection) fail(c *call, err error) {
	if s.calls.remove(c) {
		c.give(outcome{err: err})
	}
}

// protocol is the version in use; "" as long as it is not known.
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
