package auth

import (
	"crypto/sha256"
	"time"

	"secateur/internal/access"
)

// holder is the holder of a token.
type holder struct {
	principal *access.Principal
	expires   time.Time // zero: never
	filed     bool      // from the token file, and so revocable
}

// tokens maps the SHA-256 of every static token to its holder. It is immutable and replaced whole.
// Timing of the map lookup does not make guessing a token easier.
type tokens map[[32]byte]*holder

// gather joins auth_token, the configured tokens and the tokens of the file.
func (a *Authenticator) gather(filed []Token) tokens {
	all := tokens{}
	for _, t := range filed {
		all.add(t, true)
	}
	for _, t := range a.opt.Settings.Tokens {
		all.add(t, false)
	}
	if !a.opt.Token.IsZero() {
		all[sha256.Sum256([]byte(a.opt.Token.Reveal()))] = &holder{principal: access.TokenHolder()}
	}
	return all
}

func (all tokens) add(t Token, filed bool) {
	sum, err := t.sum()
	if err != nil {
		return // no token matches an invalid hash
	}
	p := principal(access.IssuerToken, t.Name, t.Tenant, t.Roles)
	if !t.Expires.IsZero() {
		p.Expires = t.Expires.Unix()
	}
	all[sum] = &holder{principal: p, expires: t.Expires, filed: filed}
}

// find looks up a token.
func (all tokens) find(text string, now time.Time) (*holder, access.Cause) {
	h := all[sha256.Sum256([]byte(text))]
	switch {
	case h == nil:
		return nil, access.CauseInvalid
	case !h.expires.IsZero() && !now.Before(h.expires):
		return nil, access.CauseExpired
	default:
		return h, ""
	}
}
