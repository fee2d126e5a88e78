package replica

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
)

// Header is the header of a forwarded request. It holds the time, the caller, a digest of the body,
// and an HMAC-SHA256 over these and the destination.
const Header = "Secateur-Replica"

// maxAge is the maximum age of a signature. Replicas' clocks may differ by as much.
const maxAge = 2 * time.Minute

var errSignature = errors.New("not forwarded by a replica of this group")

// IsForwarded reports whether a request claims to come from another replica. Accept verifies that.
func IsForwarded(h http.Header) bool { return len(h[Header]) > 0 }

// Accept verifies a forwarded request and returns the caller. If the body differs from the signed
// one, reading it ends with an error.
func (g *Group) Accept(r *http.Request) (*access.Principal, error) {
	if g == nil || len(r.Header[Header]) != 1 {
		return nil, errSignature
	}
	parts := strings.Split(r.Header.Get(Header), " ")
	if len(parts) != 4 {
		return nil, errSignature
	}
	given, err := hex.DecodeString(parts[3])
	if err != nil || !hmac.Equal(given, sign(g.secret[:], r.Method, r.URL.RequestURI(), parts[:3])) {
		return nil, errSignature
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	if age := time.Since(time.Unix(at, 0)); err != nil || age > maxAge || age < -maxAge {
		return nil, errSignature
	}
	digest, err := hex.DecodeString(parts[2])
	if err != nil {
		return nil, errSignature
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, errSignature
	}
	var who caller
	if err := json.Unmarshal(text, &who); err != nil || who.Expires != 0 && time.Now().Unix() >= who.Expires {
		return nil, errSignature
	}
	r.Body = access.SignedBody(r.Body, r.ContentLength, digest)
	p := access.Principal(who)
	return &p, nil
}

// caller is a principal in a signature.
type caller struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject"`
	Tenant  string   `json:"tenant"`
	Roles   []string `json:"roles"`
	Expires int64    `json:"expires"`
}

// signature returns the header for a request to the replica with this secret.
func signature(secret []byte, method, uri string, body []byte, p *access.Principal) (string, error) {
	who, err := json.Marshal(caller(*p))
	if err != nil {
		return "", err
	}
	parts := []string{strconv.FormatInt(time.Now().Unix(), 10), base64.RawURLEncoding.EncodeToString(who), hex.EncodeToString(digestOf(body))}
	return strings.Join(append(parts, hex.EncodeToString(sign(secret, method, uri, parts))), " "), nil
}

func sign(secret []byte, method, uri string, parts []string) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = io.WriteString(mac, "secateur replica 1\n"+method+"\n"+uri+"\n"+strings.Join(parts, "\n"))
	return mac.Sum(nil)
}

// digestOf returns the SHA-256, or nil for nil.
func digestOf(b []byte) []byte {
	if b == nil {
		return nil
	}
	sum := sha256.Sum256(b)
	return sum[:]
}
