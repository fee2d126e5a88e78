package rpchttp

import "secateur/internal/mcp/buffer"

// Buffer is bytes that may come from a pool.
type Buffer struct {
	Bytes  []byte
	pooled bool
}

// Release gives the bytes back; nobody may look at them afterwards.
func (b Buffer) Release() {
	if b.pooled {
		buffer.Put(b.Bytes)
	}
}

// Grab takes an empty buffer with room for size bytes.
func Grab(size int) Buffer { return Buffer{buffer.Get(size), true} }
