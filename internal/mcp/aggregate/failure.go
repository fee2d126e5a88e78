package aggregate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// failure is an answer that says no: an error and, over HTTP, the status and headers that go with it.
type failure struct {
	err    *wire.Error
	status int // 0: 200
	header http.Header
	object []byte // a server's own error, in the place of err
	stream bool   // it came late: a client that takes streams expects one
	hidden bool   // it is not to be told from a refusal, which comes at once

	call *upstream.CallError // the failed call to a server; nil: none
}

func (f *failure) answer(id wire.ID) downstream.Answer {
	a := downstream.Answer{Status: f.status, Header: f.header, Stream: f.stream, Refused: true}
	if f.object == nil {
		a.Body = f.err.AppendResponse(nil, id)
		return a
	}
	a.Body = wire.AppendErrorObject(nil, id, f.object)
	return a
}

// unauthorized is a message of which it is not known who sends it.
func unauthorized(v access.Verdict) *failure {
	if v.Reason == "" {
		v.Reason = "this door asks who is calling: send a token as Authorization: Bearer … or in params.proxy.authToken"
	}
	return &failure{
		err: rpchttp.UnauthorizedError(v.Reason, v.Cause), status: http.StatusUnauthorized, header: http.Header{"Www-Authenticate": {v.Header()}},
	}
}

// unknownSession is a session in the hands of someone who did not open it: as unknown as any.
func unknownSession() *failure {
	f := downstream.UnknownSession()
	return &failure{err: f.Err, status: f.Status}
}

func unknownMethod(method string) *failure {
	return &failure{err: wire.NewError(wire.CodeMethodNotFound, "method not found: "+clipped(method))}
}

func invalidParams(path, text string) *failure {
	return &failure{err: wire.InvalidParams(path, text)}
}

// badRequest is a modern request that breaks the rules of its own era.
func badRequest(e *wire.Error) *failure { return &failure{err: e, status: http.StatusBadRequest} }

// needsPages is for a modern client that cannot open the page that a legacy server wants its user to visit.
func needsPages() *failure {
	return badRequest(era.MissingCapability("the server needs the client to open a page: elicitation of mode url", []byte(`{"elicitation":{"url":{}}}`)))
}

// Why a request ended whose client asked for that, or is gone.
var (
	errCancelled   = errors.New("cancelled by the client")
	errSessionOver = errors.New("the client's session is over")
)

// callFailed explains what went wrong between us and a server.
func callFailed(ctx context.Context, server string, err error) *failure {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return &failure{err: wire.NewError(wire.CodeCancelled, "the request was cancelled by notifications/cancelled")}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &failure{err: wire.NewError(wire.CodeCancelled, "the request was cancelled: its session or its connection was ended")}
	}
	if said, ok := errors.AsType[*pool.ServerError](err); ok {
		e := wire.NewError(said.Code, "")
		e.Data.Code = "server_error"
		return &failure{err: e, object: said.Object}
	}
	if errors.Is(err, pool.ErrUnknownServer) {
		return &failure{err: wire.NewError(wire.CodeUnknownServer, fmt.Sprintf("unknown server %q", clipped(server))), status: http.StatusNotFound}
	}
	call, known := errors.AsType[*upstream.CallError](err)
	if !known {
		err = fmt.Errorf("server %q: %w", server, err)
	}
	f := &failure{err: upstream.RPCError(server, err), call: call}
	if f.err.Code == wire.CodeOverloaded {
		f.status, f.header = http.StatusServiceUnavailable, http.Header{"Retry-After": {"2"}}
	}
	return f
}

// paramsFailed explains params that the catalog cannot use.
func paramsFailed(err error) *failure {
	bad, ok := errors.AsType[*catalog.ParamsError](err)
	if !ok {
		return &failure{err: wire.NewError(wire.CodeInternal, err.Error())}
	}
	e := wire.InvalidParams(bad.Path, "")
	e.Message = bad.Problem
	if len(bad.Servers) > 1 {
		e.Data.Hint = "put the server's id before it: " + bad.Servers[0] + catalog.ContractSeparator + "…"
	}
	return &failure{err: e}
}

// clipped makes what a client wrote fit for a message.
func clipped(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
