package buffer

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrTooLong is a body longer than its limit.
var ErrTooLong = errors.New("longer than the limit")

// firstStep is how much room a body gets before any of it has come. A size that somebody declares costs them nothing: the
// room grows with what really comes.
const firstStep = 64 << 10

// Read reads to the end into a buffer of Get; the caller gives it back, also after an error. A size that
// is not known is -1. It stops with ErrTooLong as soon as more than limit bytes are sure.
func Read(r io.Reader, size int64, limit int) ([]byte, error) {
	return read(0, r, size, limit, 0)
}

// Sizes reads the bodies that come from one place and remembers how long they were. The next one, when the first step of its room is full, gets
// room for a usual one at once: with each doubling all that has come is copied. The zero value knows of none. It is safe
// for concurrent use.
type Sizes struct {
	usual atomic.Int64 // goes up at once, and down by and by
}

// ReadBehind is Read that leaves so many bytes free before what it reads.
func (s *Sizes) ReadBehind(room int, r io.Reader, size int64, limit int) ([]byte, error) {
	usual := s.usual.Load()
	buf, err := read(room, r, size, limit, room+int(usual)+1)
	if n := int64(len(buf) - room); err == nil && n != usual {
		s.usual.Store(max(n, usual-(usual-n+7)/8)) // of two at a time either will do
	}
	return buf, err
}

// read is told how much room a usual body takes; 0: not known.
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
