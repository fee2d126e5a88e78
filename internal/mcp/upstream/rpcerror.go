package upstream

import (
	"errors"

	"secateur/internal/mcp/wire"
)

// RPCError turns what went wrong between us and a server into what a caller is told, at every door. What is no
// *CallError counts as a server that cannot be reached.
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
