package rpchttp

import "secateur/internal/mcp/buffer"

// Buffer is a byte slice that may come from a pool.
type Buffer struct {
	Bytes  []byte
	pooled bool
}

// Release returns the bytes to the pool. They must not be used afterwards.
func (b Buffer) Release() {
	if b.pooled {
		buffer.Put(b.Bytes)
	}
}

// Grab returns an empty buffer with a capacity of at least size bytes.
func Grab(size int) Buffer { return Buffer{buffer.Get(size), true} }
