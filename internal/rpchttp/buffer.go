package rpchttp

import "sync"

// Buffer is bytes that may come from a pool.
type Buffer struct {
	Bytes []byte
	home  *[]byte // where the bytes go back to; nil: they are not the pool's
}

// Release gives the bytes back; nobody may look at them afterwards.
func (b Buffer) Release() {
	if b.home == nil || cap(b.Bytes) > maxPooled {
		return
	}
	*b.home = b.Bytes[:0]
	pool.Put(b.home)
}

// maxPooled keeps one huge message from holding its memory for good.
const maxPooled = 4 << 20

var pool = sync.Pool{New: func() any { return new([]byte) }}

// Grab takes an empty buffer with room for size bytes.
func Grab(size int) Buffer {
	home, _ := pool.Get().(*[]byte)
	bytes := (*home)[:0]
	if cap(bytes) < size {
		bytes = make([]byte, 0, size)
	}
	return Buffer{bytes, home}
}
