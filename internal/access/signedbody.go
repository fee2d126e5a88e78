package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"hash"
	"io"
)

// SignedBody hashes a body while it is read. If its SHA-256 differs from want, the last read
// returns ErrBodyHash. length is the number of bytes to come; negative: unknown. The last bytes of
// a wrong body never reach the reader.
func SignedBody(body io.ReadCloser, length int64, want []byte) io.ReadCloser {
	return &signedBody{ReadCloser: body, want: want, left: length, sum: sha256.New()}
}

type signedBody struct {
	io.ReadCloser

	want []byte
	left int64 // bytes to come; negative: unknown
	sum  hash.Hash
	err  error // sticky
}

func (b *signedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	_, _ = b.sum.Write(p[:n])
	last := errors.Is(err, io.EOF)
	if b.left > 0 { // a reader that stops at the length never sees EOF
		b.left -= int64(n)
		last = last || b.left <= 0
	}
	if last && subtle.ConstantTimeCompare(b.sum.Sum(nil), b.want) == 0 {
		b.err = ErrBodyHash
		return 0, b.err
	}
	return n, err
}
