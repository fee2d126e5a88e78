package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
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

// checkSignature checks an HMAC signature. The body is checked against its signed hash while the
// door reads it.
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
	at, _ := strconv.ParseInt(signed.Timestamp, 10, 64) // Check has parsed it
	if cause := a.useNonce(r.Context(), key.principal, signed.Nonce, at, now); cause != "" {
		return nil, cause
	}
	want, err := hex.DecodeString(signed.BodyHash)
	if err != nil {
		return nil, access.CauseInvalid
	}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		if sha256.Sum256(nil) != [32]byte(want) {
			return nil, access.CauseInvalid
		}
		return key.principal, ""
	}
	r.Body = access.SignedBody(r.Body, r.ContentLength, want)
	return key.principal, ""
}
