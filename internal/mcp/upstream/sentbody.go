package upstream

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// errDetached is returned to a transport that reads a request's bytes after the call has returned.
var errDetached = errors.New("the call is over")

// sentBody holds the bytes of a request being sent. A transport may still read them after the
// response has arrived. After detach, the caller owns the bytes again.
type sentBody struct {
	ours bool // only the transport uses the bytes
	mu   sync.Mutex
	data []byte // guarded by mu; nil after detach
	at   int    // guarded by mu
	gone bool   // guarded by mu
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return 0, errDetached
	}
	if b.at == len(b.data) {
		return 0, io.EOF
	}
	n := copy(p, b.data[b.at:])
	b.at += n
	return n, nil
}

// smallBody is the size up to which a request's bytes are copied for the transport.
const smallBody = 8 << 10

// source returns a function that gives the transport the bytes, repeatedly if needed. A small body
// comes in a type that net/http knows to be in memory. It then sends headers and body in one write
// instead of two.
func (b *sentBody) source() func() (io.ReadCloser, error) {
	if len(b.data) > smallBody {
		return b.again
	}
	whole := b.data
	if !b.ours {
		whole = bytes.Clone(whole)
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
}

// Close does nothing; the transport requires it.
func (b *sentBody) Close() error { return nil }

// again rewinds the body. The transport calls it if an idle connection was closed before anything
// was written.
func (b *sentBody) again() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return nil, errDetached
	}
	b.at = 0
	return b, nil
}

func (b *sentBody) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data, b.gone = nil, true
}
