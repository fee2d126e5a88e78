package auth

import (
	"time"

	"secateur/internal/access"
)

// Recognize is Authenticate for a caller whom another replica has let in: the holder of a token has to be one here too, and is who that token says; nil where
// it is not. Other credentials were checked there against what replicas share.
func (a *Authenticator) Recognize(p *access.Principal) *access.Principal {
	switch {
	case !a.Asks():
		return a.anonymous
	case p.Issuer == access.IssuerNone:
		return nil
	case p.Issuer != access.IssuerToken:
		return p
	}
	now := time.Now()
	for _, h := range *a.tokens.Load() {
		if h.principal.Is(p) && (h.expires.IsZero() || now.Before(h.expires)) {
			return h.principal
		}
	}
	return nil
}
