package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"hash"
	"io"
)

// SignedBody is a body that is hashed as it is read, and whose end is ErrBodyHash where its SHA-256 is another than was signed. Length is how many
// bytes come: of a body that was not signed nobody gets the last of them. Negative where that is not known.
func SignedBody(body io.ReadCloser, length int64, want []byte) io.ReadCloser {
	return &signedBody{ReadCloser: body, want: want, left: length, sum: sha256.New()}
}

type signedBody struct {
	io.ReadCloser

	want []byte
	left int64 // bytes to come; negative: not known
	sum  hash.Hash
	err  error // once there was one, it stays
}

func (b *signedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	_, _ = b.sum.Write(p[:n])
	last := errors.Is(err, io.EOF)
	if b.left > 0 { // who reads no further than the length never hears of the end
		b.left -= int64(n)
		last = last || b.left <= 0
	}
	if last && subtle.ConstantTimeCompare(b.sum.Sum(nil), b.want) == 0 {
		b.err = ErrBodyHash
		return 0, b.err
	}
	return n, err
}
