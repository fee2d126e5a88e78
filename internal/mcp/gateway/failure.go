package gateway

import (
	"context"
	"errors"
	"net/http"

	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// refuse counts a failure and writes it.
func (t *timing) refuse(ctx context.Context, w http.ResponseWriter, id wire.ID, f *rpchttp.Failure) {
	t.End(ctx, f.Err.Data.Code)
	f.Write(w, id)
}

// failureOf converts an error between us and the server into the caller's failure.
func failureOf(ctx context.Context, server string, err error) *rpchttp.Failure {
	if errors.Is(context.Cause(ctx), errCancelled) {
		return &rpchttp.Failure{
			Status: http.StatusOK,
			Err:    wire.NewError(wire.CodeCancelled, "the call was cancelled by notifications/cancelled"),
		}
	}
	failed := &rpchttp.Failure{Status: http.StatusOK, Err: upstream.RPCError(server, err)}
	if failed.Err.Code == wire.CodeOverloaded {
		overloaded := rpchttp.Overloaded()
		overloaded.Err = failed.Err
		return overloaded
	}
	return failed
}
