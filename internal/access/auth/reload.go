package auth

import (
	"reflect"
	"slices"

	"secateur/internal/access"
)

// takeOver has what another remembers go on here: nonces that were used, what is open, and that a token file is asked for.
func (a *Authenticator) takeOver(before *Authenticator) {
	if before == nil {
		return
	}
	a.nonces, a.held = before.nonces, before.held
	if a.file == before.file {
		a.filed.Store(before.filed.Load())
	}
	a.tokens.Store(before.tokens.Load()) // those that are still the same keep their principals
}

// keep gives tokens that were known before, and grant the same, the principals that they had: what is open holds on to them.
func (all tokens) keep(before tokens) {
	for sum, h := range all {
		if old := before[sum]; old != nil && samePrincipal(old.principal, h.principal) {
			h.principal = old.principal
		}
	}
}

// samePrincipal reports whether both are the same caller with the same roles, for as long.
func samePrincipal(a, b *access.Principal) bool {
	return a.Is(b) && slices.Equal(a.Roles, b.Roles) && a.Expires == b.Expires
}

// keptKey is the key that was there before, if it is the same.
func keptKey(before *Authenticator, key *hmacKey) *hmacKey {
	if before == nil {
		return key
	}
	old := before.keys[key.principal.Subject]
	if old == nil || old.secret != key.secret || !samePrincipal(old.principal, key.principal) {
		return key
	}
	return old
}

// keptJWT is the verifier that was there before, with the issuer's keys that it knows, if its successor wants the same; nil: it does not.
func (a *Authenticator) keptJWT(next *Authenticator) *jwtVerifier {
	if a == nil || a.publicURL != next.publicURL || !reflect.DeepEqual(a.opt.Settings.JWT, next.opt.Settings.JWT) ||
		!slices.Equal(a.opt.Settings.PrivateNetworks, next.opt.Settings.PrivateNetworks) {
		return nil
	}
	return a.jwt
}

// EndRevoked ends what those have open who would not be let in any more with what they have shown.
func (a *Authenticator) EndRevoked() { a.held.end(a.wouldLetIn) }

// wouldLetIn reports whether what somebody was let in with is still good.
func (a *Authenticator) wouldLetIn(o owner) bool {
	p := o.principal
	switch p.Issuer {
	case access.IssuerNone:
		return !a.Asks()
	case access.IssuerToken:
		return a.stillGood(o)
	case access.IssuerHMAC:
		key := a.keys[p.Subject]
		return key != nil && key.principal == p
	case access.IssuerMTLS:
		return a.stillGood(o) && slices.ContainsFunc(a.opt.Settings.Certificates, func(row Certificate) bool {
			own := principal(access.IssuerMTLS, p.Subject, row.Tenant, row.Roles)
			own.Expires = p.Expires
			return row.SAN.Match(p.Subject) && samePrincipal(own, p)
		})
	default:
		return a.jwt != nil && o.jwt == a.jwt
	}
}
