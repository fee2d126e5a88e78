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

// ErrBodyHash is what reading a signed body ends with if it is not the one that was signed: its sender is not known, whatever the headers said.
var ErrBodyHash = errors.New("the body is not the one that was signed")

// Signed is what an HMAC signature covers.
type Signed struct {
	Timestamp string // Unix seconds
	Nonce     string
	Method    string
	Path      string // as sent
	Query     string // as sent
	BodyHash  string // hexadecimal SHA-256 of the body
}

// Text is what is signed.
func (s Signed) Text() string {
	parts := strings.Split(s.Query, "&")
	slices.Sort(parts)
	return strings.Join([]string{"SECATEUR-HMAC-SHA256", s.Timestamp, s.Nonce, s.Method, s.Path, strings.Join(parts, "&"), s.BodyHash}, "\n")
}

// Sign is the signature with a key.
func (s Signed) Sign(key secret.Text) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(s.Text()))
	return hex.EncodeToString(mac.Sum(nil))
}

// Check compares a signature in constant time, and says whether the rest has its form. Now is in Unix seconds; the nonce is for the
// caller to look up.
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
