package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/secret"
)

// hmacKey is a key for signed requests.
type hmacKey struct {
	secret    secret.Text
	principal *access.Principal
}

// checkSignature checks an HMAC signature. The body is checked against its signed hash while the door reads it.
func (a *Authenticator) checkSignature(r *http.Request, signature string) (*access.Principal, access.Cause) {
	h := r.Header
	key, known := a.keys[h.Get("X-Secateur-Key")]
	if !known {
		return nil, access.CauseInvalid
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if r.RequestURI == "" { // a test's request
		path, query = r.URL.EscapedPath(), r.URL.RawQuery
	}
	signed := access.Signed{
		Timestamp: h.Get("X-Secateur-Timestamp"), Nonce: h.Get("X-Secateur-Nonce"), Method: r.Method, Path: path, Query: query,
		BodyHash: h.Get("X-Secateur-Content-Sha256"),
	}
	now := time.Now()
	if cause, ok := signed.Check(signature, key.secret, now.Unix()); !ok {
		return nil, cause
	}
	if cause := a.useNonce(r.Context(), key.principal.Subject+"\x00"+signed.Nonce, now); cause != "" {
		return nil, cause
	}
	want, err := hex.DecodeString(signed.BodyHash)
	if err != nil {
		return nil, access.CauseInvalid
	}
	body := &signedBody{ReadCloser: r.Body, want: [32]byte(want), left: r.ContentLength, sum: sha256.New()}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		if body.check() != nil {
			return nil, access.CauseInvalid
		}
		return key.principal, ""
	}
	r.Body = body
	return key.principal, ""
}

// signedBody hashes a body as it is read and withholds its end if the hash is wrong.
type signedBody struct {
	io.ReadCloser
	want [32]byte
	left int64 // bytes to come; negative: not known
	sum  hash.Hash
	err  error
}

func (b *signedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	b.sum.Write(p[:n])
	last := errors.Is(err, io.EOF)
	if b.left > 0 {
		b.left -= int64(n)
		last = last || b.left <= 0
	}
	if last {
		if b.err = b.check(); b.err != nil {
			return 0, b.err
		}
	}
	return n, err
}

func (b *signedBody) check() error {
	if [32]byte(b.sum.Sum(nil)) != b.want {
		return access.ErrBodyHash
	}
	return nil
}
