package proxy

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/klauspost/compress/zstd"

	"secateur/internal/access"
	"secateur/internal/front/budget"
)

// A few bytes can claim to need as many megabytes for unpacking as a request may have. These count
// as bytes in flight before a decoder allocates them.
func TestWhatUnpackingTakesIsCounted(t *testing.T) {
	const limit = 64 << 20
	var usual bytes.Buffer
	w, _ := zstd.NewWriter(&usual, zstd.WithWindowSize(1<<20))
	_, _ = w.Write([]byte(`{"input":[]}`))
	_ = w.Flush() // so that the window is declared, not the length
	_ = w.Close()
	const magic = "\x28\xb5\x2f\xfd"
	const last = "\x11\x00\x00{}" // a block of two bytes
	for _, tt := range []struct {
		rule   string
		packed string
		room   int64
		held   int64
		isRead bool
		full   bool
	}{
		{"the usual", usual.String(), 16 << 20, 1 << 20, true, false},
		{"a window that fits", magic + "\x00\x80" + last, 128 << 20, limit, true, false},
		{"a window that does not", magic + "\x00\x80" + last, 32 << 20, 0, false, true},
		{"a length that does not", magic + "\xa0\x00\x00\x00\x04" + last, 32 << 20, 0, false, true},
		{"a frame to be skipped", "\x50\x2a\x4d\x18\x01\x00\x00\x00x" + magic + "\x20\x02" + last, 16 << 20, 0, true, false},
		{"not zstd", "{}", 16 << 20, 0, false, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			b := budget.New(tt.room, nil)
			hold, err := b.Open(access.Holder{Principal: "someone"})
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			before := b.InFlight()
			r := httptest.NewRequest(http.MethodPost, "/v1/responses", nil)
			r.Header.Set("Content-Encoding", "zstd")
			packed := grab(len(tt.packed))
			defer packed.release()
			packed.bytes = append(packed.bytes, tt.packed...)
			plain, bad := unpackBody(r.WithContext(budget.With(r.Context(), hold)), packed, limit)
			if (plain != nil) != tt.isRead || (bad != nil) != tt.full {
				t.Fatalf("unpacked = %v, refused with %v", plain != nil, bad)
			}
			if plain == nil {
				return
			}
			defer plain.release()
			if held := b.InFlight() - before - int64(len(plain.bytes)); held != tt.held {
				t.Errorf("%d bytes are held for unpacking, want %d", held, tt.held)
			}
		})
	}
}
