package buffer_test

import (
	"testing"

	"secateur/internal/mcp/buffer"
)

func TestGetHasRoom(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 4097, 1 << 22, 1<<22 + 1} {
		b := buffer.Get(n)
		if len(b) != 0 || cap(b) < n {
			t.Errorf("Get(%d) has length %d and room for %d", n, len(b), cap(b))
		}
		buffer.Put(b)
	}
}
