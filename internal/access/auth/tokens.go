package auth

import (
	"crypto/sha256"
	"time"

	"secateur/internal/access"
)

// holder is whoever has a token.
type holder struct {
	principal *access.Principal
	expires   time.Time // zero: never
	filed     bool      // of the token file, and so revocable
}

// tokens are all static ones, by the SHA-256 of their text. They are not changed, but replaced whole. Who finds one by guessing needs as
// many tries as for the token itself, whatever the map's timing tells.
type tokens map[[32]byte]*holder

// gather joins auth_token, the configuration's tokens and the file's.
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
		return // a row that no token fits
	}
	p := principal(access.IssuerToken, t.Name, t.Tenant, t.Roles)
	if !t.Expires.IsZero() {
		p.Expires = t.Expires.Unix()
	}
	all[sum] = &holder{principal: p, expires: t.Expires, filed: filed}
}

// find looks a token up.
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
