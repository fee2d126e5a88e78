package rpchttp

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/wire"
)

// Failure is an error response: a JSON-RPC error with its HTTP status.
type Failure struct {
	Status int
	Err    *wire.Error

	header http.Header // further headers; may be nil
}

// NewFailure returns a failure with additional headers.
func NewFailure(status int, err *wire.Error, header http.Header) *Failure {
	return &Failure{Status: status, Err: err, header: header}
}

// Write sends the failure as the response to the request id.
func (f *Failure) Write(w http.ResponseWriter, id wire.ID) {
	maps.Copy(w.Header(), f.header)
	Write(w, f.Status, f.Err.AppendResponse(nil, id))
}

// BadRequest is the failure for an error of wire.ParseRequest.
func BadRequest(err *wire.Error) *Failure { return &Failure{Status: http.StatusBadRequest, Err: err} }

// InvalidRequest is the failure for a request that is not even parsed.
func InvalidRequest(status int, text string) *Failure {
	return &Failure{Status: status, Err: wire.NewError(wire.CodeInvalidRequest, text)}
}

// TooLarge is the failure for a request over the limit.
func TooLarge(limit int64) *Failure {
	return InvalidRequest(http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than max_message_bytes (%d)", limit))
}

// UnknownServer is the failure for a server that is unknown or disabled in the configuration. known
// are the ids of the others.
func UnknownServer(name string, disabled bool, known []string) *Failure {
	const most = 80
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	list := "none is configured"
	if len(known) > 0 {
		list = "known are " + strings.Join(known, ", ")
	}
	text := fmt.Sprintf("unknown server %q; %s", name, list)
	if disabled {
		text = fmt.Sprintf("server %q is disabled in the configuration or held until it is approved; %s", name, list)
	}
	return &Failure{Status: http.StatusNotFound, Err: wire.NewError(wire.CodeUnknownServer, text)}
}

// RateLimited is the failure for a call over the rate limit.
func RateLimited(wait time.Duration) *Failure {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	return &Failure{
		Status: http.StatusTooManyRequests, Err: wire.RateLimited(seconds, "rate_limit_per_minute"),
		header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}

// overloadWait is the number of seconds before a retry if the memory for requests is used up.
const overloadWait = "2"

// Overloaded is the failure for a request that exceeds the memory budget.
func Overloaded() *Failure {
	return &Failure{Status: http.StatusServiceUnavailable, Err: OverloadedError(), header: http.Header{"Retry-After": {overloadWait}}}
}

// OverloadedError is Overloaded for a door without HTTP.
func OverloadedError() *wire.Error {
	e := wire.NewError(wire.CodeOverloaded, "too much is under way; try again")
	e.Data.Hint = "try again in " + overloadWait + " s, with less at a time, or raise max_in_flight_bytes"
	return e
}

// Counts reports whether a method counts against the caller's rate limit.
func Counts(method string) bool {
	return method != "initialize" && method != "server/discover" && method != "ping"
}

// Unauthorized is the failure for a caller that is not authenticated. An empty cause means missing.
func Unauthorized(reason string, cause access.Cause) *Failure {
	return &Failure{Status: http.StatusUnauthorized, Err: UnauthorizedError(reason, cause)}
}

// UnauthorizedError is Unauthorized for a door without HTTP.
func UnauthorizedError(reason string, cause access.Cause) *wire.Error {
	if cause == "" {
		cause = access.CauseMissing
	}
	e := wire.NewError(wire.CodeUnauthorized, reason)
	e.Data.Extra = []byte(`"reason":"` + string(cause) + `"`)
	return e
}

// Refuse answers a caller that access control has refused. It reads only the id from the body, if
// that is easily available.
func Refuse(w http.ResponseWriter, r *http.Request, v access.Verdict) {
	f := &Failure{Status: http.StatusForbidden, Err: wire.NewError(wire.CodeForbidden, v.Reason)}
	switch v.Kind {
	case access.Overloaded: // reading on would not help
		w.Header().Set("Connection", "close")
		Overloaded().Write(w, wire.ID{})
		return
	case access.Guessing: // likewise
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", strconv.Itoa(access.GuessWait))
		(&Failure{Status: http.StatusTooManyRequests, Err: wire.RateLimited(access.GuessWait, "wrong_credentials")}).Write(w, wire.ID{})
		return
	case access.Unauthorized:
		f = Unauthorized(v.Reason, v.Cause)
		w.Header().Set("WWW-Authenticate", v.Header())
	}
	const most = 64 << 10
	var id wire.ID
	if body, bad := Read(w, r, most); bad == nil {
		req, _ := wire.ParseRequest(body.Bytes, wire.MaxRequestDepth)
		id = req.ID
		body.Release()
	}
	f.Write(w, id)
}

// PostOnly answers a request with another method than POST, and reports whether it did.
func PostOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodPost {
		return false
	}
	w.Header().Set("Allow", http.MethodPost)
	http.Error(w, "send JSON-RPC messages with POST; there is no stream and no session here", http.StatusMethodNotAllowed)
	return true
}
