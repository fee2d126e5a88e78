package aggregate

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// clientConn is one client's connection: a session of the legacy era or a pipe. Without a link it is for the requests
// of the modern era that stand alone.
type clientConn struct {
	*Server
	only  string
	asked catalog.ClientSettings // names that the client asks for
	mode  string                 // how it asks to learn of tools; "": it does not

	missing bool // there is no server of that id

	link downstream.Link // nil: there is no connection
	tag  string          // tells it from all others; "" where there is no connection

	inFlight      wire.InFlight
	pending       pendingRequests
	uris          subscribedURIs
	notifications notificationQueue
	recent        cutting.Session // what it asked for, and what was cut of that
	quiet         chan struct{}   // closed when the client will say nothing more; nil: that is not known

	opener *access.Principal                // who opened the connection, as far as that told
	told   atomic.Pointer[access.Principal] // whom a token in a message named

	mu     sync.Mutex
	closed bool               // guarded by mu
	legacy *client            // guarded by mu; who said initialize, or spoke without
	modern map[string]*client // guarded by mu; by capabilities: connections to servers outlive the single request
}

// Principal is whose session it is: who a message's token named, else who opened it; nil as long as neither is known.
func (s *clientConn) Principal() *access.Principal {
	if s.link == nil {
		return nil // requests that stand alone belong to many
	}
	if s.openerDecides() {
		return s.opener
	}
	if p := s.told.Load(); p != nil {
		return p
	}
	return s.opener
}

// subject is whose session it is, "" as long as that is not known.
func (s *clientConn) subject() string {
	if p := s.Principal(); p != nil {
		return p.Subject
	}
	return ""
}

// openerDecides reports whether what opened the connection says for good whose it is: a certificate is outdone by a message's token.
func (s *clientConn) openerDecides() bool {
	return s.opener != nil && s.opener.Issuer != access.IssuerMTLS
}

// Handle answers a request.
func (s *clientConn) Handle(ctx context.Context, req *wire.Message, x downstream.Exchange) downstream.Answer {
	ctx, span := telemetry.StartMessage(telemetry.WithOwnRequest(ctx), req.Meta())
	t := s.begin(req, span)
	a, outcome := s.handle(ctx, req, x, &t)
	t.Out = len(a.Body)
	t.End(ctx, outcome)
	return a
}

func (s *clientConn) handle(ctx context.Context, req *wire.Message, x downstream.Exchange, t *telemetry.Timing) (downstream.Answer, string) {
	now := s.now.Load()
	req, by, failed := s.admit(ctx, now, req, x)
	t.Subject = by.principal.Name()
	if failed != nil {
		return failed.answer(req.ID), failed.err.Data.Code
	}
	defer by.Leave()
	if by.principal != x.Principal() && now.Hold != nil { // else the door holds it
		var release func()
		ctx, release = now.Hold(ctx, by.principal)
		defer release()
	}
	ctx = access.NewContext(ctx, by.principal)
	if s.link != nil { // a request that stands alone is cancelled by hanging up
		var done func()
		ctx, done = s.inFlight.Begin(ctx, req.ID)
		defer done()
	}
	a := request{Message: req, x: x, now: now, timing: t, principal: by.principal}
	if req.Meta() != nil {
		a.meta = era.ReadMeta(req.Params)
	}
	if failed := s.checkForwarded(a); failed != nil {
		return failed.answer(req.ID), failed.err.Data.Code
	}
	if req.Method == "initialize" && !a.isModern() {
		return a.outcome(s.initialize(ctx, a))
	}
	c, leave, failed := s.clientOf(ctx, a)
	if failed != nil {
		return failed.answer(req.ID), failed.err.Data.Code
	}
	defer leave()
	answer, outcome := a.outcome(s.dispatch(ctx, c, a))
	if state := by.State(); !state.IsZero() {
		if answer.Header == nil {
			answer.Header = http.Header{}
		}
		admission.SetHeaders(answer.Header, state)
	}
	return answer, outcome
}

// request is a message of the client's and where its answer goes.
type request struct {
	*wire.Message
	x      downstream.Exchange
	timing *telemetry.Timing
	meta   era.Meta
	now    *live // what was so when it came

	principal *access.Principal // who sent it
	permit    admission.Permit  // once it is asked
	found
}

// isModern tells the era of a request by what it says, in its params or in its headers.
func (a request) isModern() bool { return a.meta.HasVersion || isModernHeader(a.x) }

// reply is what a request comes to: an answer or a failure.
type reply struct {
	downstream.Answer
	failed  *failure
	outcome string // "": ok
}

func (a request) outcome(r reply) (downstream.Answer, string) {
	switch {
	case r.failed != nil && r.failed.err.Code == wire.CodeCancelled && a.x.Header() == nil:
		return downstream.Answer{}, r.failed.err.Data.Code // on a pipe, who cancels gets no answer
	case r.failed != nil:
		if a.isModern() && r.failed.status == 0 {
			r.failed.status = era.HTTPStatus(r.failed.err.Code)
		}
		return r.failed.answer(a.ID), r.failed.err.Data.Code
	case r.outcome == "":
		return r.Answer, "ok"
	}
	return r.Answer, r.outcome
}

func refused(f *failure) reply { return reply{failed: f} }

// result is an answer of our own.
func (a request) result(result []byte) reply {
	return reply{Answer: downstream.Answer{Body: wire.AppendResult(make([]byte, 0, len(result)+64), a.ID, result)}}
}

// dispatch answers a request of a client who is known.
func (s *clientConn) dispatch(ctx context.Context, c *client, a request) reply {
	isModern := c.era == era.Modern
	switch a.Method {
	case "ping":
		if !isModern {
			return a.result([]byte("{}"))
		}
	case "server/discover":
		if isModern {
			return s.discover(ctx, c, a)
		}
	case "logging/setLevel":
		if !isModern {
			return s.setLevel(ctx, c, a)
		}
	case "resources/subscribe", "resources/unsubscribe":
		if !isModern {
			return s.subscribe(ctx, c, a)
		}
	case "subscriptions/listen":
		if isModern {
			return s.listen(ctx, c, a)
		}
	case "initialize":
	default:
		return s.pass(ctx, c, a)
	}
	return refused(unknownMethod(a.Method))
}

// Notify takes a notification of the client.
func (s *clientConn) Notify(ctx context.Context, n *wire.Message, x downstream.Exchange) {
	n, p := s.admitNotice(ctx, n, x)
	if p == nil {
		return
	}
	ctx = access.NewContext(ctx, p)
	switch n.Method {
	case "notifications/initialized":
		s.legacyClient().feed.begin(ctx)
	case "notifications/cancelled":
		s.inFlight.Cancel(n.RequestID(), errCancelled)
	case "notifications/progress":
		s.progressOf(ctx, n)
	case rootsChanged:
		s.askRoots(ctx, s.legacyClient())
	default:
		s.broadcast(ctx, n)
	}
}

// NoMoreComes ends what waits for a word from the client. What it asked for is still answered.
func (s *clientConn) NoMoreComes() { close(s.quiet) }

// Respond takes the client's answer to a question of ours.
func (s *clientConn) Respond(_ context.Context, r *wire.Message) { s.pending.answered(r) }

// Close lets go of the servers.
func (s *clientConn) Close() {
	s.inFlight.Close()
	s.parked.abandon(s)
	s.mu.Lock()
	s.closed = true
	leaving := []*client{s.legacy}
	for _, c := range s.modern {
		leaving = append(leaving, c)
	}
	s.legacy, s.modern = nil, nil
	s.mu.Unlock()
	for _, c := range leaving {
		if c != nil {
			c.member.Leave()
		}
	}
}
