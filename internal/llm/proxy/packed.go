package proxy

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"secateur/internal/front/budget"
)

// unpackBody returns the contents of a compressed request, such as Codex sends. It returns nil if
// it is not compressed or cannot be read; the provider then decides. More than limit bytes are
// refused.
func unpackBody(r *http.Request, packed *buffer, limit int64) (*buffer, *failure) {
	held := budget.From(r.Context())
	from, err := unpacker(r.Header, packed.bytes, limit, held)
	switch {
	case errors.Is(err, budget.ErrFull):
		return nil, bodyBroken(err)
	case from == nil || err != nil:
		return nil, nil
	}
	defer from.Close()
	counted := io.Reader(from)
	if held != nil {
		counted = held.Reader(from)
	}
	plain := grab(min(4*len(packed.bytes), trustBytes))
	for {
		n, err := counted.Read(plain.bytes[len(plain.bytes):cap(plain.bytes)])
		plain.bytes = plain.bytes[:len(plain.bytes)+n]
		switch {
		case int64(len(plain.bytes)) > limit, errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
			plain.release()
			return nil, bodyTooLarge(limit)
		case errors.Is(err, io.EOF):
			return plain, nil
		case errors.Is(err, budget.ErrFull):
			plain.release()
			return nil, bodyBroken(err)
		case err != nil:
			plain.release()
			return nil, nil
		case len(plain.bytes) == cap(plain.bytes):
			plain = plain.grow(-1)
		}
	}
}

// unpacker returns a reader by Content-Encoding; nil: not compressed, or an unknown encoding.
func unpacker(h http.Header, packed []byte, limit int64, held *budget.Hold) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ","))) {
	case "gzip", "x-gzip":
		return gzip.NewReader(bytes.NewReader(packed))
	case "zstd":
		window := min(windowOf(packed), limit)
		if err := held.Grow(window); err != nil {
			return nil, err
		}
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(limit)), zstd.WithDecoderMaxWindow(uint64(max(min(usualWindow, limit), window, zstd.MinWindowSize)))) //nolint:gosec // sizes
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, nil
}

// usualWindow is the window size that RFC 8878 asks every decoder to support.
const usualWindow = 8 << 20

// windowOf returns how many bytes a compressed body claims to need for unpacking, however short it
// is. A decoder allocates them up front.
func windowOf(packed []byte) int64 {
	var h zstd.Header
	if h.Decode(packed) != nil || h.Skippable {
		return 0
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(window, math.MaxInt64))
}

// pack returns the body to send for a request that came compressed: the client's own bytes if
// nothing was changed, otherwise the uncompressed result.
func (x *exchange) pack(h http.Header, out *buffer) *buffer {
	switch {
	case x.packed == nil:
	case out == x.unpacked:
		out.release()
		x.packed.hold()
		return x.packed
	default:
		delete(h, "Content-Encoding")
	}
	return out
}
