package buffer

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrTooLong means that a body exceeds its limit.
var ErrTooLong = errors.New("longer than the limit")

// firstStep is the maximum initial buffer size. A declared size costs the sender nothing, so the
// buffer grows only with the bytes received.
const firstStep = 64 << 10

// Read reads to the end into a buffer from Get. The caller must Put the buffer back, also after an
// error. A size of -1 means unknown. Read returns ErrTooLong as soon as the body is known to exceed
// limit bytes.
func Read(r io.Reader, size int64, limit int) ([]byte, error) {
	return read(0, r, size, limit, 0)
}

// Sizes reads bodies from one source and remembers their usual length. When a body fills the first
// step, its buffer grows to the usual length at once. This avoids repeated doubling, which copies
// everything received. The zero value knows no length. It is safe for concurrent use.
type Sizes struct {
	usual atomic.Int64 // increases immediately, decreases gradually
}

// ReadBehind is Read that leaves room bytes free before the body.
func (s *Sizes) ReadBehind(room int, r io.Reader, size int64, limit int) ([]byte, error) {
	usual := s.usual.Load()
	buf, err := read(room, r, size, limit, room+int(usual)+1)
	if n := int64(len(buf) - room); err == nil && n != usual {
		s.usual.Store(max(n, usual-(usual-n+7)/8)) // if two run concurrently, either value will do
	}
	return buf, err
}

// read gets the buffer size of a usual body; 0: unknown.
func read(room int, r io.Reader, size int64, limit, usual int) ([]byte, error) {
	if size > int64(limit) {
		return nil, ErrTooLong
	}
	whole := room + int(max(size, 0)) + 1 // one more, so that the end is seen without growing
	buf := Get(min(max(whole, usual), firstStep))[:room]
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf)-room > limit:
			return buf, ErrTooLong
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
		if len(buf) == cap(buf) {
			step := max(2*len(buf), min(usual, 1<<largestShift))
			if whole > len(buf) {
				step = min(step, whole)
			}
			larger := append(Get(step), buf...)
			Put(buf)
			buf = larger
		}
	}
}
