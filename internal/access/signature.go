package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/secret"
)

// ErrBodyHash ends the reading of a body that differs from the signed one. Its sender is then
// unknown, whatever the headers said.
var ErrBodyHash = errors.New("the body is not the one that was signed")

// Signed holds the values that an HMAC signature covers.
type Signed struct {
	Timestamp string // Unix seconds
	Nonce     string
	Method    string
	Path      string // as sent
	Query     string // as sent
	BodyHash  string // hexadecimal SHA-256 of the body
}

// Text returns the text to sign.
func (s Signed) Text() string {
	parts := strings.Split(s.Query, "&")
	slices.Sort(parts)
	return strings.Join([]string{"SECATEUR-HMAC-SHA256", s.Timestamp, s.Nonce, s.Method, s.Path, strings.Join(parts, "&"), s.BodyHash}, "\n")
}

// Sign returns the signature with a key.
func (s Signed) Sign(key secret.Text) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(s.Text()))
	return hex.EncodeToString(mac.Sum(nil))
}

// Check verifies the form of the values, the signature in constant time, and the timestamp. now is
// in Unix seconds. The caller must look up the nonce.
func (s Signed) Check(signature string, key secret.Text, now int64) (Cause, bool) {
	const window = 300
	at, err := strconv.ParseInt(s.Timestamp, 10, 64)
	if err != nil || !isNonce(s.Nonce) || len(s.BodyHash) != 2*sha256.Size {
		return CauseInvalid, false
	}
	if !hmac.Equal([]byte(s.Sign(key)), []byte(strings.ToLower(signature))) {
		return CauseInvalid, false
	}
	if at < now-window || at > now+window {
		return CauseExpired, false
	}
	return "", true
}

func isNonce(s string) bool {
	return len(s) >= 16 && len(s) <= 128 && isServerID(s)
}
