package telemetry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// HeaderRequestID is the header for request ids, in requests and responses.
const HeaderRequestID = "X-Request-Id"

// scope holds the data of one request. It is a context itself, which saves an allocation per
// request.
type scope struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	id      string   // "": not within a request yet
	tracing *Tracing // nil: off
}

type scopeKey struct{}

// Value returns the scope itself for its key.
func (s *scope) Value(key any) any {
	if key == (scopeKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// WithRequest returns a context with a request id: the client's, if it is fit for logs, else a new
// one. If tracing is not nil, calls under it are traced.
func WithRequest(ctx context.Context, sent string, tracing *Tracing) (of context.Context, id string) {
	if !isRequestID(sent) {
		sent = newRequestID()
	}
	return &scope{ctx, sent, tracing}, sent
}

// WithOwnRequest is WithRequest for a message without HTTP. It creates an id unless ctx has one.
func WithOwnRequest(ctx context.Context) context.Context {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	switch {
	case !ok:
		ctx, _ = WithRequest(ctx, "", nil)
	case s.id == "":
		ctx, _ = WithRequest(ctx, "", s.tracing)
	}
	return ctx
}

// WithTracing returns a context whose messages are traced, each as a separate request.
func WithTracing(ctx context.Context, tracing *Tracing) context.Context {
	return &scope{ctx, "", tracing}
}

// RequestID returns the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return s.id
	}
	return ""
}

// maxRequestID is the maximum length of an id.
const maxRequestID = 128

func isRequestID(s string) bool {
	if s == "" || len(s) > maxRequestID {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// newRequestID returns a probably unique id. It is not a secret.
func newRequestID() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], rand.Uint64()) //nolint:gosec // it only distinguishes requests
	return hex.EncodeToString(b[:])
}
