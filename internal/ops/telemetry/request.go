package telemetry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// HeaderRequestID is the header that a request's id comes in and goes out with.
const HeaderRequestID = "X-Request-Id"

// scope is what belongs to one request. It is a context itself: every request has one.
type scope struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	id      string   // "": not yet one request's
	tracing *Tracing // nil: off
}

type scopeKey struct{}

// Value gives the scope itself for its key.
func (s *scope) Value(key any) any {
	if key == (scopeKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// WithRequest gives what runs under ctx the id of its request: the one that a client has sent, where it is fit for logs, else
// one of our own. Its calls are traced where tracing is not nil.
func WithRequest(ctx context.Context, sent string, tracing *Tracing) (of context.Context, id string) {
	if !isRequestID(sent) {
		sent = newRequestID()
	}
	return &scope{ctx, sent, tracing}, sent
}

// WithOwnRequest is WithRequest for a message that came without HTTP: it gets an id of its own, unless ctx has one.
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

// WithTracing has the messages that come under ctx traced, each as a request of its own.
func WithTracing(ctx context.Context, tracing *Tracing) context.Context {
	return &scope{ctx, "", tracing}
}

// RequestID is the id of the request that ctx is of; "" where it is of none.
func RequestID(ctx context.Context) string {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return s.id
	}
	return ""
}

// maxRequestID is how long an id may be.
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

// newRequestID makes an id that no other request is likely to have. It is no secret.
func newRequestID() string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], rand.Uint64()) //nolint:gosec // it only tells requests apart
	return hex.EncodeToString(b[:])
}
