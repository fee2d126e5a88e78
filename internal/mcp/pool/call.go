package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// ServerError is a JSON-RPC error that a server returned.
type ServerError struct {
	Server string
	Code   int
	Object []byte // the raw error object
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("server %q: it answered with error %d", e.Server, e.Code)
}

func asServerError(err error) (*ServerError, bool) { return errors.AsType[*ServerError](err) }

// ask sends a request of secateur's own and returns the result. The error may be a *ServerError.
func (c *Conn) ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	return c.askAs(ctx, "pool", method, params, upstream.CallOptions{Own: true})
}

// askAs is ask with an id and options.
func (c *Conn) askAs(ctx context.Context, id, method string, params []byte, opt upstream.CallOptions) ([]byte, error) {
	req := wire.NewRequest(wire.StringID(id), method, params)
	reply, err := c.up.CallWith(ctx, &req, opt)
	if err != nil {
		return nil, err
	}
	defer reply.Release()
	if reply.Error == nil {
		return bytes.Clone(reply.Result), nil
	}
	var said struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(reply.Error, &said, lenient()) // its shape has been checked
	return nil, &ServerError{Server: c.ID(), Code: said.Code, Object: bytes.Clone(reply.Error)}
}
