package proxy

import (
	"errors"
	"io"
	"math/bits"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// buffer holds pooled bytes with a reference count. The holders are the handler, and the transport
// that may still read a request when its response arrives. The last one to release it returns the
// bytes to the pool.
type buffer struct {
	bytes   []byte
	holders atomic.Int32
}

// maxPooled keeps huge requests out of the pool.
const maxPooled = 4 << 20

// pools group buffers by the number of binary digits of their size. A large request thus seldom
// gets a small buffer.
var pools [24]sync.Pool

func poolFor(size int) *sync.Pool { return &pools[bits.Len(uint(min(size, maxPooled)))] }

// roomFor returns the capacity for size bytes: the next request of a conversation is a little
// longer.
func roomFor(size int) int { return max(size, min(size+size/8, maxPooled)) }

// grab takes an empty buffer with room for size bytes from the matching pool, with one holder.
func grab(size int) *buffer {
	b, ok := poolFor(roomFor(size)).Get().(*buffer)
	if !ok {
		b = new(buffer)
	}
	if cap(b.bytes) < size {
		b.bytes = make([]byte, 0, roomFor(size))
	}
	b.bytes = b.bytes[:0]
	b.holders.Store(1)
	return b
}

func (b *buffer) hold() { b.holders.Add(1) }

func (b *buffer) release() {
	if b.holders.Add(-1) > 0 {
		return
	}
	if cap(b.bytes) > maxPooled {
		return
	}
	poolFor(cap(b.bytes)).Put(b)
}

// reader returns the bytes for a transport.
func (b *buffer) reader() io.ReadCloser {
	b.hold()
	return &bufferReader{from: b}
}

// bufferReader releases its buffer when closed. Transports close it at any time, from any
// goroutine.
type bufferReader struct {
	mu   sync.Mutex // guards the fields below
	from *buffer    // nil: closed
	pos  int
}

var errClosed = errors.New("request body is closed")

func (r *bufferReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil {
		return 0, errClosed
	}
	if r.pos == len(r.from.bytes) {
		return 0, io.EOF
	}
	n := copy(p, r.from.bytes[r.pos:])
	r.pos += n
	return n, nil
}

// writeTo writes the remaining bytes, at most most, without a copy.
func (r *bufferReader) writeTo(w io.Writer, most int64) (int64, error) {
	r.mu.Lock()
	from := r.from
	if from == nil {
		r.mu.Unlock()
		return 0, errClosed
	}
	from.hold() // closing the reader need not wait for the write
	defer from.release()
	rest := from.bytes[r.pos:]
	rest = rest[:min(int64(len(rest)), most)]
	r.pos += len(rest)
	r.mu.Unlock()
	n, err := w.Write(rest)
	return int64(n), err
}

func (r *bufferReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from != nil {
		r.from.release()
		r.from = nil
	}
	return nil
}

const (
	guessBytes = 64 << 10 // initial size without a declared length
	trustBytes = 1 << 20  // a larger declared length is trusted once this much has come
	// Read from a request that is too large, so that its sender can read the error.
	drainBytes = 256 << 20
	drainTime  = 10 * time.Second
)

// readBody reads a whole request of at most limit bytes. It differs from buffer.Read in three ways.
// It does not trust a declared length at once. It drains a request that is too large, so that its
// sender can read the error. It counts references, since a transport may still send the bytes when
// the response arrives.
func readBody(r *http.Request, limit int64) (*buffer, *failure) {
	if r.ContentLength > limit {
		drain(r.Body)
		return nil, bodyTooLarge(limit)
	}
	size := r.ContentLength + 1 // one more, so that the end is seen without growing
	if size == 0 {
		size = guessBytes
	}
	body := grab(int(min(size, trustBytes)))
	for {
		n, err := r.Body.Read(body.bytes[len(body.bytes):cap(body.bytes)])
		body.bytes = body.bytes[:len(body.bytes)+n]
		switch {
		case int64(len(body.bytes)) > limit:
			body.release()
			drain(r.Body)
			return nil, bodyTooLarge(limit)
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			body.release()
			return nil, bodyBroken(err)
		case len(body.bytes) == cap(body.bytes):
			body = body.grow(r.ContentLength)
		}
	}
}

// grow moves the bytes to a larger buffer.
func (b *buffer) grow(declared int64) *buffer {
	size := 2*cap(b.bytes) + 4096
	if declared >= int64(len(b.bytes)) {
		size = min(size, int(declared)+1)
	}
	grown := grab(size)
	grown.bytes = append(grown.bytes, b.bytes...)
	b.release()
	return grown
}

// drain reads on for a while, for the sender's sake only.
func drain(body io.Reader) {
	until := time.Now().Add(drainTime)
	for left := int64(drainBytes); left > 0 && time.Now().Before(until); {
		n, err := io.CopyN(io.Discard, body, min(left, trustBytes))
		if err != nil {
			return
		}
		left -= n
	}
}
