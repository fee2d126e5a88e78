package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"secateur/internal/front/datarate"
)

func TestABufferGoesBackToWhereItIsLookedFor(t *testing.T) {
	for size := 1; size <= maxPooled; size += 1 + size/7 {
		if b := grab(size); poolFor(cap(b.bytes)) != poolFor(roomFor(size)) || cap(b.bytes) < size {
			t.Errorf("a buffer of %d bytes for %d is never found again", cap(b.bytes), size)
		}
	}
}

func TestBodiesAreRefusedForWhatTheyAre(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		body   io.Reader
		length int64
		status int
	}{
		{"declared over the limit, whatever comes", strings.NewReader("x"), 11, http.StatusRequestEntityTooLarge},
		{"over the limit as it turns out", strings.NewReader(strings.Repeat("x", 11)), -1, http.StatusRequestEntityTooLarge},
		{"too slow", iotest.ErrReader(datarate.ErrTooSlow), 5, http.StatusRequestTimeout},
	} {
		_, failed := readBody(&http.Request{Body: io.NopCloser(tt.body), ContentLength: tt.length}, 10)
		if failed == nil || failed.status != tt.status {
			t.Errorf("%s: %+v, want %d", tt.rule, failed, tt.status)
		}
	}
}
