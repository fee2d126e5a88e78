package pruner

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// A few bytes of gzip can expand to any size, so unpacking stops at the limit.
func TestPackedInputIsBounded(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	if out, err := unpack(packed.Bytes(), 1<<20); err != nil || len(out) != 1<<20 {
		t.Errorf("as much as may be: %d bytes, %v", len(out), err)
	}
	if out, err := unpack(packed.Bytes(), 1<<20-1); err == nil || !strings.Contains(err.Error(), "unpacks to more than 1048575 bytes") {
		t.Errorf("one byte more: %d bytes, %v", len(out), err)
	}
}
