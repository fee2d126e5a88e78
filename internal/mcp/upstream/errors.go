package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// Kind classifies why a call failed.
type Kind int

const (
	// Unavailable means that the server was unreachable or ended before its answer was complete.
	Unavailable Kind = iota + 1
	// Timeout means that the server sent no answer and no sign of progress in time.
	Timeout
	// Invalid means that the server's response is not an answer to the call.
	Invalid
	// Overloaded means that no memory is available for the answer, because too many bytes are in
	// flight.
	Overloaded
	// LoginRequired means that a person must sign in to the server.
	LoginRequired
)

func (k Kind) String() string {
	switch k {
	case Unavailable:
		return "unavailable"
	case Timeout:
		return "timeout"
	case Invalid:
		return "invalid"
	case Overloaded:
		return "overloaded"
	case LoginRequired:
		return "login_required"
	}
	return "unknown"
}

// CallError is a failed call. Its texts are for people and contain nothing of what was sent or
// received.
type CallError struct {
	Kind       Kind
	Message    string // names the server and what happened
	Hint       string // how to fix it; may be empty
	HTTPStatus int    // the server's HTTP status; 0: none

	foreign bool // the response was not JSON-RPC at all
}

// IsForeign reports whether the server's response was not JSON-RPC at all.
func (e *CallError) IsForeign() bool { return e.foreign }

// Error returns the message.
func (e *CallError) Error() string { return e.Message }

// errorf returns a CallError that names the server.
func (u *Upstream) errorf(kind Kind, format string, args ...any) *CallError {
	return &CallError{Kind: kind, Message: fmt.Sprintf("server %q: ", u.opt.Settings.ID) + fmt.Sprintf(format, args...)}
}

// callError returns the error for callers: a CallError unchanged, any other error as Unavailable.
func (u *Upstream) callError(err error) *CallError {
	if failed, ok := errors.AsType[*CallError](err); ok {
		return failed
	}
	return u.errorf(Unavailable, "%v", err)
}

// timeoutError returns the error for a call without an answer within limit.
func (u *Upstream) timeoutError(limit time.Duration) *CallError {
	return u.errorf(Timeout, "no answer within %s", limit)
}

// overloadedError returns the error for a call whose answer exceeds the memory budget.
func (u *Upstream) overloadedError() *CallError {
	e := u.errorf(Overloaded, "there is no room for its answer while so much else is under way")
	e.Hint = "try again in 2 s, with less at a time, or raise max_in_flight_bytes"
	return e
}

// loginRequired returns the error for a server that requires a sign-in.
func (u *Upstream) loginRequired(format string, args ...any) *CallError {
	e := u.errorf(LoginRequired, format, args...)
	e.Hint = "secateur login " + u.opt.Settings.ID
	return e
}

// transportError explains why an HTTP request failed, other than by our own deadline.
func (u *Upstream) transportError(err error, host string) *CallError {
	if failed, ok := errors.AsType[*CallError](err); ok {
		return failed
	}
	var dns *net.DNSError
	var op *net.OpError
	text := err.Error()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e := u.errorf(Unavailable, "connection to %s refused", host)
		e.Hint = "start the server, or correct its url"
		return e
	case errors.As(err, &dns):
		return u.errorf(Unavailable, "host %s cannot be resolved", dns.Name)
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		e := u.errorf(Invalid, "%s speaks HTTP, not HTTPS", host)
		e.Hint = "change https:// to http:// in its url"
		return e
	// usually a header cut short by the end of the connection
	case strings.Contains(text, "malformed MIME"):
		return u.errorf(Unavailable, "the headers of what %s answered are not whole", host)
	case strings.Contains(text, "malformed HTTP") ||
		strings.Contains(text, "response headers exceeded") || strings.Contains(text, "malformed chunked") ||
		strings.Contains(text, "invalid byte in chunk") || strings.Contains(text, "unsupported transfer encoding"):
		return u.errorf(Invalid, "what %s answered is not HTTP", host)
	case strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") || strings.Contains(text, "certificate"):
		return u.errorf(Unavailable, "no trusted connection to %s: %v", host, innermost(err))
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return u.errorf(Unavailable, "%s closed the connection before its answer was whole", host)
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return u.errorf(Unavailable, "%s reset the connection before its answer was whole", host)
	case errors.As(err, &op) && op.Op == "dial":
		return u.errorf(Unavailable, "no connection to %s: %v", host, innermost(op.Err))
	case errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled):
		return u.errorf(Unavailable, "the connection to %s was closed", host)
	}
	return u.errorf(Unavailable, "the connection to %s broke: %v", host, innermost(err))
}

// innermost returns the root cause without the wrapping addresses, because a URL may contain a
// token.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
