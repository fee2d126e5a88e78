package downstream

// MCP, "Transports", Streamable HTTP: "Listening for Messages from the Server", "Resumability and
// Redelivery", and the DELETE of "Session Management".

import (
	"net/http"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// checkPath refuses invalid GET and DELETE requests before the session is looked up. It reports
// whether it did.
func (q *request) checkPath() bool {
	switch {
	case q.server == nil:
		q.refuse(wire.ID{}, q.unknownServer())
	case !q.knowsVersion():
		q.refuse(wire.ID{}, q.unsupportedVersion())
	case era.IsModern(q.version):
		q.wrongMethod("POST", "this protocol version has no sessions and no standing streams: send messages with POST")
	default:
		return false
	}
	return true
}

// delete ends a session.
func (q *request) delete() {
	if q.checkPath() {
		return
	}
	s, failed := q.session(q.r.Header.Get(headerSession), false)
	if failed != nil {
		q.refuse(wire.ID{}, failed)
		return
	}
	defer s.leave()
	if !q.mayUse(s) {
		q.refuse(wire.ID{}, q.unauthorized())
		return
	}
	s.close()
	q.w.WriteHeader(http.StatusNoContent)
}

// get opens a stream: a session's standing stream, one to be resumed, or that of an HTTP+SSE
// client.
func (q *request) get() {
	if q.checkPath() {
		return
	}
	if !q.accept.stream && !q.accept.all {
		q.refuse(wire.ID{}, rpchttp.InvalidRequest(http.StatusNotAcceptable, "what GET answers is a stream: the header Accept must name text/event-stream"))
		return
	}
	id := q.r.Header.Get(headerSession)
	if id == "" {
		q.openPlain()
		return
	}
	s, failed := q.session(id, false)
	if failed != nil {
		q.refuse(wire.ID{}, failed)
		return
	}
	defer s.leave()
	if !q.mayUse(s) {
		q.refuse(wire.ID{}, q.unauthorized())
		return
	}
	if q.principal == nil && q.h.opt.Hold != nil { // else the door holds it
		ctx, release := q.h.opt.Hold(q.r.Context(), principalOf(s))
		defer release()
		q.r = q.r.WithContext(ctx)
		if ctx.Err() != nil {
			q.refuse(wire.ID{}, q.unauthorized())
			return
		}
	}
	q.listen(s)
}

// listen connects the client to a stream of its session.
func (q *request) listen(s *httpSession) {
	stream, at := s.standing(), position{}
	if last := q.r.Header.Get("Last-Event-Id"); last != "" {
		var failed *rpchttp.Failure
		if stream, at, failed = findStream(s, last); failed != nil {
			q.refuse(wire.ID{}, failed)
			return
		}
		if stream.isAll(at) { // the client has everything: 204 tells it not to return
			q.w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	r := newReader()
	newest, ok := stream.attach(r, at)
	if !ok {
		q.refuse(wire.ID{}, unknownEvent())
		return
	}
	defer stream.detach(r, true)
	head := []byte(": open\n\n")
	if primes(s.version()) && !at.known {
		head = appendPriming(nil, eventID{stream.number, newest})
	}
	q.stream(stream, r, head)
}

// findStream finds the stream of the last event that a client has seen.
func findStream(s *httpSession, last string) (*stream, position, *rpchttp.Failure) {
	p, ok := readEventID(last)
	if !ok {
		return nil, position{}, unknownEvent()
	}
	at := position{known: true, last: p.message}
	if p.stream == 0 {
		return s.standing(), at, nil
	}
	switch found, was := s.find(p.stream); {
	case found != nil:
		return found, at, nil
	case was:
		return nil, at, hinted(http.StatusGone, "what came after this event is no longer kept", "send the request again")
	}
	return nil, at, unknownEvent()
}

func unknownEvent() *rpchttp.Failure {
	return rpchttp.InvalidRequest(http.StatusBadRequest, "Last-Event-ID is not the id of an event that this client was sent")
}

// stream writes a stream to the client until one of them ends.
func (q *request) stream(s *stream, r *reader, head []byte) {
	q.h.metrics.streams.Inc()
	defer q.h.metrics.streams.Dec()
	q.w.beginStream(-1)
	q.w.carry(s, r, head, q.h.opt.KeepAlive, q.r.Context().Done())
}
