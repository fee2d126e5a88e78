package upstream

import (
	"errors"

	"secateur/internal/mcp/wire"
)

// RPCError converts a failed call to a server into the error that callers get, at every door. Any
// error but a *CallError counts as an unavailable server.
func RPCError(server string, err error) *wire.Error {
	bad, ok := errors.AsType[*CallError](err)
	if !ok {
		bad = &CallError{Kind: Unavailable, Message: err.Error()}
	}
	code := wire.CodeUpstreamUnavailable
	switch bad.Kind {
	case Timeout:
		code = wire.CodeUpstreamTimeout
	case Invalid:
		code = wire.CodeUpstreamInvalid
	case Overloaded:
		code = wire.CodeOverloaded
	case LoginRequired:
		code = wire.CodeLoginRequired
	}
	e := wire.NewError(code, bad.Message)
	e.Data.Server, e.Data.HTTPStatus, e.Data.Hint = server, bad.HTTPStatus, bad.Hint
	return e
}
