package llmproxy

import (
	"errors"
	"io"
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

var pool = sync.Pool{New: func() any { return new(buffer) }}

// grab takes an empty buffer with room for size bytes, held once.
func grab(size int) *buffer {
	b, _ := pool.Get().(*buffer)
	if cap(b.bytes) < size {
		b.bytes = make([]byte, 0, size)
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
		b.bytes = nil
	}
	pool.Put(b)
}

// reader gives the bytes to a transport.
func (b *buffer) reader() io.ReadCloser {
	b.hold()
	return &bufferReader{from: b}
}

// bufferReader lets go of its buffer when it is closed, which transports do at any time, from any goroutine.
type bufferReader struct {
	mu   sync.Mutex
	from *buffer // nil: closed
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
	readPause  = 60 * time.Second // how long a client may send nothing in the middle of its request
	trustBytes = 1 << 20          // a declared length beyond this is believed once so much has come
	drainBytes = 256 << 20        // of a request that is too large, so that its sender gets to read why
	drainTime  = 10 * time.Second
)

// readBody reads a whole request, limit bytes at most.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) (*buffer, *failure) {
	control := http.NewResponseController(w)
	pause := func() { _ = control.SetReadDeadline(time.Now().Add(readPause)) } // a writer without deadlines is a test's
	if r.ContentLength > limit {
		drain(control, r.Body)
		return nil, bodyTooLarge(limit)
	}
	// One more than declared, so that the end is seen without growing.
	body := grab(int(min(max(r.ContentLength, 0), trustBytes)) + 1)
	for {
		pause()
		n, err := r.Body.Read(body.bytes[len(body.bytes):cap(body.bytes)])
		body.bytes = body.bytes[:len(body.bytes)+n]
		switch {
		case int64(len(body.bytes)) > limit:
			body.release()
			drain(control, r.Body)
			return nil, bodyTooLarge(limit)
		case errors.Is(err, io.EOF):
			_ = control.SetReadDeadline(time.Time{})
			return body, nil
		case err != nil:
			body.release()
			return nil, bodyBroken()
		case len(body.bytes) == cap(body.bytes):
			body = body.grow(r.ContentLength)
		}
	}
}

// grow moves the bytes to where there is room for more.
func (b *buffer) grow(declared int64) *buffer {
	size := 2*cap(b.bytes) + 4096
	if declared >= int64(len(b.bytes)) {
		size = int(declared) + 1
	}
	grown := grab(size)
	grown.bytes = append(grown.bytes, b.bytes...)
	b.release()
	return grown
}

func drain(control *http.ResponseController, body io.Reader) {
	_ = control.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, body, drainBytes)
	_ = control.SetReadDeadline(time.Time{})
}
