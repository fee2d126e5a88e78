package upstream

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// errDetached is what a transport gets that reads a request's bytes after the call has returned.
var errDetached = errors.New("the call is over")

// sentBody is the bytes of a request on their way. A transport may still read them when the response is there; the
// bytes are the caller's again after detach.
type sentBody struct {
	ours bool // the bytes are nobody's but the transport's
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

// smallBody is up to where a request's bytes are copied for the transport.
const smallBody = 8 << 10

// source gives the transport the bytes, once and again. Small ones it gets in a reader that it knows to be in memory: it
// sends them with the headers then, in one write, where it would else send the headers ahead.
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

// Close is for the transport and does nothing.
func (b *sentBody) Close() error { return nil }

// again is used by the transport when a kept connection turned out to be closed before anything was written to it.
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
