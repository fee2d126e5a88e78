package downstream

import (
	"fmt"
	"net/http"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// refuse answers a request with an error. A caller without valid credentials learns nothing but
// that.
func (q *request) refuse(id wire.ID, f *rpchttp.Failure) {
	if q.stranger && f.Status < http.StatusInternalServerError {
		f = q.unauthorized()
		if q.h.opt.Refused != nil {
			q.h.opt.Refused(q.r, q.verdict)
		}
	}
	switch f.Status {
	case http.StatusUnauthorized:
		q.w.Header().Set("WWW-Authenticate", q.verdict.Header())
	case http.StatusServiceUnavailable:
		q.w.Header().Set("Retry-After", "30")
	}
	q.h.metrics.refused.WithLabelValues(f.Err.Data.Code).Inc()
	f.Write(q.w.ResponseWriter, id)
}

// wrongMethod answers a request with an unsupported HTTP method.
func (q *request) wrongMethod(allowed, text string) {
	q.w.Header().Set("Allow", allowed)
	q.refuse(wire.ID{}, rpchttp.InvalidRequest(http.StatusMethodNotAllowed, text))
}

// unknownServer is the failure for a path that names no known server.
func (q *request) unknownServer() *rpchttp.Failure {
	o := q.h.opt
	return rpchttp.UnknownServer(q.scope, o.IsDisabled != nil && o.IsDisabled(q.principal, q.scope), o.Known(q.principal))
}

// unsupportedVersion is the failure for an unsupported protocol revision.
func (q *request) unsupportedVersion() *rpchttp.Failure {
	return rpchttp.BadRequest(era.UnsupportedVersion(q.version))
}

// unauthorized is the failure for a caller without a valid token.
func (q *request) unauthorized() *rpchttp.Failure {
	reason := q.verdict.Reason
	if reason == "" {
		reason = "the session belongs to a caller with a token"
	}
	return rpchttp.Unauthorized(reason, q.verdict.Cause)
}

func noSession() *rpchttp.Failure {
	return hinted(http.StatusBadRequest, "the request names no session in the header Mcp-Session-Id",
		"send initialize first and repeat the Mcp-Session-Id of its answer")
}

// UnknownSession is the failure for a session that does not exist or belongs to another caller.
func UnknownSession() *rpchttp.Failure {
	return hinted(http.StatusNotFound, "there is no such session: it has ended or expired",
		"send initialize without Mcp-Session-Id to open another")
}

func tooManySessions(most int) *rpchttp.Failure {
	e := wire.NewError(wire.CodeRateLimited, fmt.Sprintf("all %d sessions are taken", most))
	e.Data.Hint = "end sessions that are not needed with DELETE, or try again later"
	return &rpchttp.Failure{Status: http.StatusServiceUnavailable, Err: e}
}

func stopping() *rpchttp.Failure {
	e := wire.NewError(wire.CodeInternal, "the program is about to stop")
	e.Data.Hint = "connect again"
	return &rpchttp.Failure{Status: http.StatusServiceUnavailable, Err: e}
}

func unacceptable() *rpchttp.Failure {
	return rpchttp.InvalidRequest(http.StatusNotAcceptable, "the answer is application/json or text/event-stream, and the header Accept wants neither")
}

func noBatch() *rpchttp.Failure {
	return rpchttp.InvalidRequest(http.StatusBadRequest, "batches are accepted in sessions of the protocol version 2025-03-26 only")
}

// hinted is an invalid request with a hint for the caller.
func hinted(status int, text, hint string) *rpchttp.Failure {
	f := rpchttp.InvalidRequest(status, text)
	f.Err.Data.Hint = hint
	return f
}
