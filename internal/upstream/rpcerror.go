package upstream

import (
	"errors"

	"secateur/internal/rpc"
)

// RPCError turns what went wrong between us and a server into what a caller is told, at every door. What is no
// *CallError counts as a server that cannot be reached.
func RPCError(server string, err error) *rpc.Error {
	bad, ok := errors.AsType[*CallError](err)
	if !ok {
		bad = &CallError{Kind: Unavailable, Message: err.Error()}
	}
	code := rpc.CodeUpstreamUnavailable
	switch bad.Kind {
	case Timeout:
		code = rpc.CodeUpstreamTimeout
	case Invalid:
		code = rpc.CodeUpstreamInvalid
	case Overloaded:
		code = rpc.CodeOverloaded
	case LoginRequired:
		code = rpc.CodeLoginRequired
	}
	e := rpc.NewError(code, bad.Message)
	e.Data.Server, e.Data.HTTPStatus, e.Data.Hint = server, bad.HTTPStatus, bad.Hint
	return e
}
