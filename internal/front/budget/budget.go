package budget

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"secateur/internal/access"
)

// ErrFull means that the limit of bytes in flight is reached.
var ErrFull = errors.New("too many bytes are in flight")

// perRequest is the minimum cost of a request.
const perRequest = 16 << 10

// Budget counts the bytes in flight. The nil *Budget refuses nothing. It is safe for concurrent
// use.
type Budget struct {
	limit  atomic.Int64
	beside func() int64 // long-lived bytes in the same memory; nil: none

	mu    sync.Mutex // guards the field below
	share access.Share
}

// New returns a budget of limit bytes; for limit <= 0 it returns nil, which refuses nothing.
// Long-lived bytes, such as originals in memory, reduce the budget by what exceeds three times the
// limit.
func New(limit int64, beside func() int64) *Budget {
	if limit <= 0 {
		return nil
	}
	b := &Budget{beside: beside}
	b.limit.Store(limit)
	return b
}

// SetLimit changes the limit. Bytes already held stay.
func (b *Budget) SetLimit(limit int64) { b.limit.Store(limit) }

// Open begins a request of a caller. It fails if there is no room.
func (b *Budget) Open(holder access.Holder) (*Hold, error) {
	if b == nil {
		return nil, nil
	}
	h := &Hold{budget: b, holder: holder}
	if err := h.Grow(perRequest); err != nil {
		return nil, err
	}
	return h, nil
}

// InFlight returns the number of bytes held.
func (b *Budget) InFlight() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.share.Used()
}

// Limit returns the current limit.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	limit := b.limit.Load()
	if b.beside == nil {
		return limit
	}
	return max(limit-max(b.beside()-3*limit, 0), limit/8)
}

// take counts n more bytes of a holder, within its share. It calls beside only if necessary: an
// eighth of the limit is always available.
func (b *Budget) take(h access.Holder, n int64) error {
	if b.takeWithin(b.limit.Load()/8, h, n) == nil {
		return nil
	}
	return b.takeWithin(b.Limit(), h, n)
}

func (b *Budget) takeWithin(limit int64, h access.Holder, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.share.Take(h, n, limit) {
		return ErrFull
	}
	return nil
}

func (b *Budget) give(h access.Holder, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.share.Give(h, n)
}

// Hold is what one request holds. The nil *Hold counts nothing. It is also the context of its
// request, see With.
type Hold struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	budget *Budget
	holder access.Holder

	mu      sync.Mutex // guards the fields below
	bytes   int64
	closed  bool
	refused bool

	body reader // the request body; at most one
}

// Grow counts n more bytes, or fails if there is no room. After Close it does nothing.
func (h *Hold) Grow(n int64) error {
	if h == nil || n <= 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	if err := h.budget.take(h.holder, n); err != nil {
		h.refused = true
		return err
	}
	h.bytes += n
	return nil
}

// Refused reports whether the budget refused any bytes of this request.
func (h *Hold) Refused() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// Close releases what is held.
func (h *Hold) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.budget.give(h.holder, h.bytes)
	}
}

// Reader counts what is read. A read fails with ErrFull if there is no room.
func (h *Hold) Reader(r io.Reader) io.Reader {
	if h == nil {
		return r
	}
	return &reader{from: r, hold: h}
}

// Body is Reader for a body that must be closed.
func (h *Hold) Body(body io.ReadCloser) io.ReadCloser {
	if h == nil || body == nil {
		return body
	}
	h.body = reader{from: body, body: body, hold: h}
	return &h.body
}

// Uncounted returns a body without the counting, for requests that stream it and hold none of it.
func Uncounted(body io.ReadCloser) io.ReadCloser {
	if c, ok := body.(*reader); ok && c.body != nil {
		return c.body
	}
	return body
}

// reader counts what is read.
type reader struct {
	from io.Reader
	body io.ReadCloser // same as from, if it must be closed
	hold *Hold
}

// Close closes the body.
func (r *reader) Close() error { return r.body.Close() }

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if full := r.hold.Grow(int64(n)); full != nil {
		return 0, full
	}
	return n, err
}

type holdKey struct{}

// With returns a context that carries the hold of its request. Call it once per request.
func With(ctx context.Context, h *Hold) context.Context {
	if h == nil {
		return ctx
	}
	h.Context = ctx
	return h
}

// Value returns the hold itself for its key.
func (h *Hold) Value(key any) any {
	if key == (holdKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// From returns the hold of the request that ctx belongs to, or nil.
func From(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}
