package downstream

// MCP 2024-11-05, "Transports", HTTP with SSE: the server's side.

import (
	"net/http"
	"sync"

	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// plainSession returns the session id from the query of a POST by an HTTP+SSE client; "": none.
func (q *request) plainSession() string {
	if q.r.URL.RawQuery == "" || q.r.Header.Get(headerSession) != "" {
		return ""
	}
	return q.r.URL.Query().Get("sessionId")
}

// openPlain serves an HTTP+SSE client. Its stream carries all messages to the client, and first of
// all the address for POSTs. When the stream ends, so does the session.
func (q *request) openPlain() {
	if q.principal == nil {
		q.refuse(wire.ID{}, q.unauthorized())
		return
	}
	if wait, ok := q.mayOpen(); !ok {
		q.refuse(wire.ID{}, rpchttp.RateLimited(wait))
		return
	}
	if !q.h.sessions.reserve(q.principal) {
		q.refuse(wire.ID{}, tooManySessions(q.h.opt.MaxSessions))
		return
	}
	s := q.newSession(true)
	defer s.leave()
	defer s.close()
	q.h.sessions.add(s)
	if q.h.isStopped() {
		return // Close may not have seen it
	}
	r := newReader()
	s.out.attach(r, position{})
	defer s.out.detach(r, false)
	q.stream(s.out, r, []byte("event: endpoint\ndata: "+q.r.URL.EscapedPath()+"?sessionId="+s.id+"\n\n"))
}

// postPlain handles a message of an HTTP+SSE client. The answer goes to the session's stream. It
// returns false if the body is needed until then.
func (q *request) postPlain(msg *wire.Message, body rpchttp.Buffer) bool {
	s, failed := q.session(q.plainSession(), true)
	if failed != nil {
		q.refuse(msg.ID, failed)
		return true
	}
	if msg.Kind() == wire.Request {
		return q.callPlain(s, msg, body)
	}
	defer s.leave()
	if !q.mayUse(s) {
		q.refuse(msg.ID, q.unauthorized())
		return true
	}
	s.take(s.context(q.r), msg, notice{q})
	q.w.WriteHeader(http.StatusAccepted)
	return true
}

// callPlain starts a request, and leaves the session when it is answered.
func (q *request) callPlain(s *httpSession, msg *wire.Message, body rpchttp.Buffer) bool {
	if !s.beginCall(q.r.Context()) {
		s.leave()
		q.refuse(msg.ID, UnknownSession())
		return true
	}
	req := *msg
	go func() {
		defer s.leave()
		defer s.endCall()
		defer body.Release()
		ctx := s.context(q.r)
		x := &sseResponse{notice: notice{q}, s: s}
		a := handle(ctx, q.h.log, s.inner, &req, x)
		x.finish()
		s.out.patientAnswer(ctx, &a)
	}()
	q.w.WriteHeader(http.StatusAccepted)
	return false
}

// sseResponse is the Exchange of a request over HTTP+SSE.
type sseResponse struct {
	notice
	s *httpSession

	mu   sync.Mutex
	over bool // guarded by mu; the answer has been sent
}

// Send sends a message before the answer.
func (x *sseResponse) Send(msg []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.over && x.s.Send(msg)
}

// Streams reports that messages can be sent before the answer.
func (x *sseResponse) Streams() bool { return true }

// Heard reports whether the client reads its stream.
func (x *sseResponse) Heard() bool { return x.s.Heard() }

// finish prevents messages after the answer.
func (x *sseResponse) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
}
