package downstream

// MCP, "Transports", Streamable HTTP: "Sending Messages to the Server".

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	headerSession    = "Mcp-Session-Id"
)

// post handles a client's message or batch.
func (q *request) post() {
	if !isJSON(q.r.Header) {
		q.refuse(wire.ID{}, rpchttp.InvalidRequest(http.StatusUnsupportedMediaType, "the Content-Type must be application/json"))
		return
	}
	body, failed := q.read()
	if failed != nil {
		q.refuse(wire.ID{}, failed)
		return
	}
	if isArray(body.Bytes) {
		defer body.Release()
		q.postBatch(body.Bytes)
		return
	}
	msg, bad := wire.ParseClient(body.Bytes, wire.MaxRequestDepth)
	if bad != nil {
		q.refuse(msg.ID, rpchttp.BadRequest(bad))
	} else if !q.take(&msg, body) {
		return
	}
	body.Release()
}

// Limits for reading messages of unidentified senders: size of one message, and number of
// concurrent messages.
const (
	strangerBytes = 64 << 10
	maxStrangers  = 64
)

// read reads a message. If no header identifies the sender, it reads only a small message, and only
// where tokens in messages are accepted. A sender with a larger message must send its token in a
// header.
func (q *request) read() (rpchttp.Buffer, *rpchttp.Failure) {
	if !q.stranger {
		return rpchttp.Read(q.w.ResponseWriter, q.r, q.h.maxMessage.Load())
	}
	if q.h.opt.TokenInHeader || q.r.ContentLength > strangerBytes {
		return rpchttp.Buffer{}, q.unauthorized()
	}
	select {
	case q.h.strangers <- struct{}{}:
		defer func() { <-q.h.strangers }()
	default:
		return rpchttp.Buffer{}, rpchttp.Overloaded()
	}
	return rpchttp.Read(q.w.ResponseWriter, q.r, min(strangerBytes, q.h.maxMessage.Load()))
}

// take handles one message. It returns false if the body is needed for longer; it is then released
// later.
func (q *request) take(msg *wire.Message, body rpchttp.Buffer) bool {
	isRequest := msg.Kind() == wire.Request
	if _, given := msg.ProxyToken(); given {
		q.stranger = false
	}
	switch {
	// an unknown certificate, and no token
	case q.stranger && q.verdict.Cause != access.CauseMissing:
		q.refuse(msg.ID, q.unauthorized())
	case q.server == nil:
		q.refuse(msg.ID, q.unknownServer())
	case !q.knowsVersion():
		q.refuse(msg.ID, q.unsupportedVersion())
	case !era.IsModern(q.version) && q.plainSession() != "":
		return q.postPlain(msg, body)
	case isRequest && q.accept == accepts{}:
		q.refuse(msg.ID, unacceptable())
	case isModern(msg): // even an initialize: the modern era has no such method
		q.stateless(msg)
	case isRequest && msg.Method == methodInitialize:
		q.initialize(msg)
	case era.IsModern(q.version):
		q.stateless(msg)
	default:
		q.inSession(msg)
	}
	return true
}

// isArray reports whether a body begins with an array.
func isArray(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

// knowsVersion reports whether the header names a supported revision, or none.
func (q *request) knowsVersion() bool {
	return q.version == "" || era.IsModern(q.version) || era.IsLegacy(q.version)
}

// isModern reports whether a message declares a protocol version and thus belongs to no session.
func isModern(msg *wire.Message) bool {
	meta := msg.Meta()
	return bytes.Contains(meta, []byte(`protocolVersion`)) && era.ReadMeta(msg.Params).HasVersion
}

// stateless handles a message that belongs to no session.
func (q *request) stateless(msg *wire.Message) {
	session := q.server.Stateless()
	switch msg.Kind() {
	case wire.Notification:
		takeIn(q.r.Context(), q.h.log, session, msg, notice{q})
		q.w.WriteHeader(http.StatusAccepted)
		return
	case wire.Response:
		q.refuse(msg.ID, rpchttp.InvalidRequest(http.StatusBadRequest, "there are no requests to clients in this protocol version, so no responses either"))
		return
	}
	ctx, cancel := context.WithCancel(q.r.Context())
	defer cancel()
	x := &postResponse{request: q, cancel: cancel}
	x.buffer = &x.own
	if !q.h.beginLone(x, msg.Method == methodListen) {
		q.refuse(msg.ID, stopping())
		return
	}
	defer q.h.endLone(x)
	x.watch()
	a := handle(ctx, q.h.log, session, msg, x)
	x.finish(false, &a)
}

// crowd is the divisor of the limit of sessions: once 1/crowd of it is open, opening more is
// rate-limited.
const crowd = 16

// mayOpen applies the rate limit of new sessions if many are open. While few are open, new ones
// take nothing from other callers.
func (q *request) mayOpen() (wait time.Duration, ok bool) {
	if q.h.sessions.count() < q.h.opt.MaxSessions/crowd {
		return 0, true
	}
	return q.h.opt.Openings.Allow(q.principal.Key())
}

// initialize opens a session.
func (q *request) initialize(msg *wire.Message) {
	if wait, ok := q.mayOpen(); !ok {
		q.refuse(msg.ID, rpchttp.RateLimited(wait))
		return
	}
	if !q.h.sessions.reserve(q.principal) {
		q.refuse(msg.ID, tooManySessions(q.h.opt.MaxSessions))
		return
	}
	s := q.newSession(false)
	defer s.leave()
	if !s.beginCall(context.WithoutCancel(q.r.Context())) {
		q.h.sessions.cancel(s)
		s.close()
		q.refuse(msg.ID, stopping())
		return
	}
	defer s.endCall()
	x := &postResponse{request: q, buffer: &s.replayBuffer, kind: resumable, session: s.id}
	x.watch()
	a := handle(s.context(q.r), q.h.log, s.inner, msg, x)
	version := agreed(&a)
	if version == "" {
		q.h.sessions.cancel(s)
		x.disown()
		x.finish(false, &a)
		s.close()
		return
	}
	s.agree(version)
	x.agree(version)
	q.h.sessions.add(s)
	if !x.finish(false, &a) {
		s.close() // its client never learned of it
	}
}

// agreed returns the revision in the answer to an initialize; "": it was refused.
func agreed(a *Answer) string {
	if a.Refused {
		return ""
	}
	msg, err := wire.ParseServer(a.Body, 0)
	if err != nil {
		return ""
	}
	var result struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(msg.Result, &result) // without a version no session is opened
	return result.ProtocolVersion
}

// inSession handles a message of a session.
func (q *request) inSession(msg *wire.Message) {
	s, failed := q.session(q.r.Header.Get(headerSession), false)
	if failed != nil {
		q.refuse(msg.ID, failed)
		return
	}
	defer s.leave()
	if msg.Kind() != wire.Request {
		if !q.mayUse(s) {
			q.refuse(msg.ID, q.unauthorized())
			return
		}
		s.take(s.context(q.r), msg, notice{q})
		q.w.WriteHeader(http.StatusAccepted)
		return
	}
	x := q.responseIn(s)
	x.watch()
	a := q.call(s, msg, x)
	x.finish(false, &a)
}

// responseIn returns the response to a request of a session.
func (q *request) responseIn(s *httpSession) *postResponse {
	return &postResponse{request: q, buffer: &s.replayBuffer, kind: resumable, primes: primes(s.version())}
}

// call passes a request to the session when a slot is free.
func (q *request) call(s *httpSession, msg *wire.Message, x Exchange) Answer {
	if !s.beginCall(q.r.Context()) {
		f := UnknownSession()
		if s.ctx.Err() == nil {
			f = stopping()
		}
		return Answer{Status: f.Status, Body: f.Err.AppendResponse(nil, msg.ID)}
	}
	defer s.endCall()
	return handle(s.context(q.r), q.h.log, s.inner, msg, x)
}

// session finds a session for the caller, which must leave it.
func (q *request) session(id string, plain bool) (*httpSession, *rpchttp.Failure) {
	if id == "" {
		return nil, noSession()
	}
	s := q.h.sessions.find(id)
	if s == nil || s.scope != q.scope || s.plain != plain || !q.isOwner(s) || !s.use() {
		return nil, UnknownSession()
	}
	q.stranger = false // each message decides what it may do
	return s, nil
}

// principalOf returns the principal that a session's messages identified; nil: none.
func principalOf(s *httpSession) *access.Principal {
	if p, ok := s.inner.(interface{ Principal() *access.Principal }); ok {
		return p.Principal()
	}
	return nil
}

// isOwner reports whether a session may belong to this caller. Only a caller with a token can be
// checked.
func (q *request) isOwner(s *httpSession) bool {
	if q.principal == nil {
		return true
	}
	owner := s.owner
	if owner == nil {
		owner = principalOf(s)
	}
	return owner == nil || owner.Is(q.principal)
}

// mayUse reports whether the caller may use a session for operations that the session itself does
// not authorize. The caller needs a token. If the session was authenticated by a message and that
// token is still valid, knowing its id is enough.
func (q *request) mayUse(s *httpSession) bool {
	if q.principal != nil || s.owner != nil {
		return q.principal != nil
	}
	told := principalOf(s)
	return told != nil && (q.h.opt.IsGood == nil || q.h.opt.IsGood(told))
}
