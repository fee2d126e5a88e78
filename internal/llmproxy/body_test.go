package llmproxy

import "testing"

func TestABufferGoesBackToWhereItIsLookedFor(t *testing.T) {
	for size := 1; size <= maxPooled; size += 1 + size/7 {
		if b := grab(size); poolFor(cap(b.bytes)) != poolFor(roomFor(size)) || cap(b.bytes) < size {
			t.Errorf("a buffer of %d bytes for %d is never found again", cap(b.bytes), size)
		}
	}
}
