package buffer

import (
	"math/bits"
	"sync"
)

// Buffers have size classes of powers of two from 4 KB to 4 MB. Larger ones are left to the garbage
// collector.
const (
	smallestShift = 12
	largestShift  = 22
)

var (
	buffers [largestShift - smallestShift + 1]sync.Pool // of *[]byte
	headers sync.Pool                                   // of nil *[]byte, reused by Put
)

// class returns the index of the smallest class that holds n bytes; ok is false if none does.
func class(n int) (index int, ok bool) {
	if n > 1<<largestShift {
		return 0, false
	}
	return max(bits.Len(uint(max(n, 1)-1))-smallestShift, 0), true
}

// Get returns an empty buffer with a capacity of at least n bytes.
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

// Put returns an unused buffer to its pool.
func Put(b []byte) {
	if cap(b) < 1<<smallestShift || cap(b) > 1<<largestShift {
		return
	}
	i := bits.Len(uint(cap(b))) - 1 - smallestShift // the largest class that it can serve
	h, ok := headers.Get().(*[]byte)
	if !ok {
		h = new([]byte)
	}
	*h = b[:0]
	buffers[i].Put(h)
}
