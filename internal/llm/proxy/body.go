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

// buffer is pooled bytes with several holders: the handler, and the transport that may go on reading a request while
// its answer is already there. The last one to let go gives the bytes back.
type buffer struct {
	bytes   []byte
	holders atomic.Int32
}

// maxPooled keeps one huge request from holding its memory for good.
const maxPooled = 4 << 20

// pools keep buffers of about the same size together, so that a large request seldom gets a small one: those whose
// size has as many binary digits.
var pools [24]sync.Pool

func poolFor(size int) *sync.Pool { return &pools[bits.Len(uint(min(size, maxPooled)))] }

// roomFor is how large a buffer is made for size bytes: the next request of a conversation is a little longer.
func roomFor(size int) int { return max(size, min(size+size/8, maxPooled)) }

// grab takes an empty buffer with room for size bytes, held once, from where one that is made for them goes.
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

// reader gives the bytes to a transport.
func (b *buffer) reader() io.ReadCloser {
	b.hold()
	return &bufferReader{from: b}
}

// bufferReader lets go of its buffer when it is closed, which transports do at any time, from any goroutine.
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

// writeTo writes what is left, most bytes at most, from where it is.
func (r *bufferReader) writeTo(w io.Writer, most int64) (int64, error) {
	r.mu.Lock()
	from := r.from
	if from == nil {
		r.mu.Unlock()
		return 0, errClosed
	}
	from.hold() // whoever closes the reader need not wait for the writing
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
	guessBytes = 64 << 10  // room for a request that does not declare its length
	trustBytes = 1 << 20   // a declared length beyond this is believed once so much has come
	drainBytes = 256 << 20 // of a request that is too large, so that its sender gets to read why
	drainTime  = 10 * time.Second
)

// readBody reads a whole request, limit bytes at most. It does not use buffer.Read: a declared length is not believed at
// once, a request that is too large is read to its end so that its sender gets to read why, and the bytes are counted
// (refcount), since a transport may still send them when the answer has come.
func readBody(r *http.Request, limit int64) (*buffer, *failure) {
	if r.ContentLength > limit {
		drain(r.Body)
		return nil, bodyTooLarge(limit)
	}
	size := r.ContentLength + 1 // one more than declared, so that the end is seen without growing
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

// grow moves the bytes to where there is room for more.
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

// drain reads on for a while, to nobody's use but the sender's.
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
