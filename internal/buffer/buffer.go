package buffer

import (
	"errors"
	"io"
	"math/bits"
	"sync"
)

// Buffers come in classes of powers of two from 4 KB to 4 MB; larger ones are left to the garbage collector.
const (
	smallestShift = 12
	largestShift  = 22
)

var (
	buffers [largestShift - smallestShift + 1]sync.Pool // of *[]byte
	headers sync.Pool                                   // of *[]byte that are nil, for the next Put
)

// class is the index of the smallest class that holds n bytes; ok is false if none does.
func class(n int) (index int, ok bool) {
	if n > 1<<largestShift {
		return 0, false
	}
	return max(bits.Len(uint(max(n, 1)-1))-smallestShift, 0), true
}

// Get gives an empty buffer that holds at least n bytes.
func Get(n int) []byte {
	i, ok := class(n)
	if !ok {
		return make([]byte, 0, n)
	}
	if h, ok := buffers[i].Get().(*[]byte); ok {
		b := *h
		*h = nil
		headers.Put(h)
		return b[:0]
	}
	return make([]byte, 0, 1<<(i+smallestShift))
}

// Put takes a buffer back that nobody uses any more.
func Put(b []byte) {
	if cap(b) < 1<<smallestShift || cap(b) > 1<<largestShift {
		return
	}
	i := bits.Len(uint(cap(b))) - 1 - smallestShift // the class that it fills
	h, ok := headers.Get().(*[]byte)
	if !ok {
		h = new([]byte)
	}
	*h = b[:0]
	buffers[i].Put(h)
}

// ErrTooLong is a body longer than its limit.
var ErrTooLong = errors.New("longer than the limit")

// firstStep is how much room a body gets before any of it has come. A size that somebody declares costs them nothing: the
// room grows with what really comes.
const firstStep = 64 << 10

// Read reads to the end into a buffer of Get; the caller gives it back, also after an error. A size that
// is not known is -1. It stops with ErrTooLong as soon as more than limit bytes are sure.
func Read(r io.Reader, size int64, limit int) ([]byte, error) {
	return ReadBehind(0, r, size, limit)
}

// ReadBehind is Read that leaves so many bytes free before what it reads.
func ReadBehind(room int, r io.Reader, size int64, limit int) ([]byte, error) {
	if size > int64(limit) {
		return nil, ErrTooLong
	}
	whole := room + int(max(size, 0)) + 1 // one more, so that the end is seen without growing
	buf := Get(min(whole, firstStep))[:room]
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
			step := 2 * len(buf)
			if whole > len(buf) {
				step = min(step, whole)
			}
			larger := append(Get(step), buf...)
			Put(buf)
			buf = larger
		}
	}
}
