package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"secateur/internal/access"
)

// jwtVerifier checks the JWTs of one issuer, as an OAuth 2.0 resource server (RFC 9068 without its
// typ).
type jwtVerifier struct {
	set      JWT
	audience []string
	verifier *oidc.IDTokenVerifier

	mu   sync.Mutex // guards the field below
	good map[[32]byte]goodJWT
}

// goodJWT is a recently verified token.
type goodJWT struct {
	principal *access.Principal
	until     time.Time
}

const (
	goodFor = time.Minute // tokens of a withdrawn key stay valid for at most this long
	maxGood = 10_000
)

func newJWTVerifier(set JWT, publicURL string, client *http.Client) *jwtVerifier {
	if len(set.Algorithms) == 0 {
		set.Algorithms = defaultAlgorithms
	}
	if set.RolesClaim == "" {
		set.RolesClaim = "roles"
	}
	if set.Leeway == 0 {
		set.Leeway = time.Minute
	}
	audience := set.Audience
	if len(audience) == 0 {
		audience = []string{publicURL, publicURL + "/mcp"}
	}
	keys := &issuerKeys{issuer: set.Issuer, client: client, algorithms: set.Algorithms}
	return &jwtVerifier{
		set: set, audience: audience, good: map[[32]byte]goodJWT{},
		verifier: oidc.NewVerifier(set.Issuer, keys, &oidc.Config{
			// both are checked below: several audiences, and leeway
			SkipClientIDCheck: true, SkipExpiryCheck: true,
			SupportedSigningAlgs: set.Algorithms,
		}),
	}
}

// verify checks a token, or returns the cached result.
func (v *jwtVerifier) verify(ctx context.Context, text string) (*access.Principal, access.Cause, error) {
	sum, now := sha256.Sum256([]byte(text)), time.Now()
	v.mu.Lock()
	known, ok := v.good[sum]
	v.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.principal, "", nil
	}
	p, expires, cause, err := v.verifyAnew(ctx, text, now)
	if err != nil {
		return nil, cause, err
	}
	v.remember(sum, p, now, expires)
	return p, "", nil
}

func (v *jwtVerifier) remember(sum [32]byte, p *access.Principal, now, expires time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.good) >= maxGood {
		for s, g := range v.good {
			if !now.Before(g.until) {
				delete(v.good, s)
			}
		}
		if len(v.good) >= maxGood {
			clear(v.good)
		}
	}
	until := now.Add(goodFor)
	if expires.Before(until) {
		until = expires
	}
	v.good[sum] = goodJWT{p, until}
}

// claims are the claims that every token needs.
type claims struct {
	Expires   *float64 `json:"exp"`
	NotBefore *float64 `json:"nbf"`
	IssuedAt  *float64 `json:"iat"`
	Subject   string   `json:"sub"`
}

func (v *jwtVerifier) verifyAnew(ctx context.Context, text string, now time.Time) (_ *access.Principal, expires time.Time, _ access.Cause, _ error) {
	refuse := func(cause access.Cause, format string, args ...any) (*access.Principal, time.Time, access.Cause, error) {
		return nil, time.Time{}, cause, fmt.Errorf(format, args...)
	}
	token, err := v.verifier.Verify(ctx, text)
	if err != nil {
		return refuse(access.CauseInvalid, "%w", err)
	}
	if !slices.ContainsFunc(token.Audience, func(a string) bool { return slices.Contains(v.audience, a) }) {
		return refuse(access.CauseInvalid, "it is for another audience")
	}
	var c claims
	var all map[string]json.RawMessage
	if err := errors.Join(token.Claims(&c), token.Claims(&all)); err != nil {
		return refuse(access.CauseInvalid, "claims: %w", err)
	}
	if c.Expires == nil || c.Subject == "" {
		return refuse(access.CauseInvalid, "it has no exp or no sub")
	}
	expires = moment(*c.Expires).Add(v.set.Leeway)
	if !now.Before(expires) {
		return refuse(access.CauseExpired, "it has expired")
	}
	for _, start := range []*float64{c.NotBefore, c.IssuedAt} {
		if start != nil && now.Add(v.set.Leeway).Before(moment(*start)) {
			return refuse(access.CauseExpired, "it is not good yet")
		}
	}
	p := principal(token.Issuer, c.Subject, "", words(all, v.set.RolesClaim))
	if v.set.TenantClaim != "" {
		tenant := words(all, v.set.TenantClaim)
		if len(tenant) != 1 || tenant[0] == "" {
			return refuse(access.CauseInvalid, "it does not name one tenant")
		}
		p.Tenant = tenant[0]
	}
	p.Expires = expires.Unix()
	return p, expires, "", nil
}

func moment(seconds float64) time.Time {
	const farthest = 1 << 40 // about thirty thousand years; keeps the conversion exact
	return time.Unix(int64(min(max(seconds, -farthest), farthest)), 0)
}

// words returns the words of a claim: a list, or one text. A dotted path reaches into objects. A
// claim whose own name has dots, such as a URL, takes precedence.
func words(claims map[string]json.RawMessage, path string) []string {
	if raw, ok := claims[path]; ok {
		return wordsOf(raw)
	}
	first, rest, dotted := strings.Cut(path, ".")
	raw, ok := claims[first]
	if !ok || !dotted {
		return nil
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(raw, &inner) != nil {
		return nil
	}
	return words(inner, rest)
}

func wordsOf(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.Fields(text)
	}
	return nil
}
