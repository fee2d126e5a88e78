package auth

import (
	"reflect"
	"slices"

	"secateur/internal/access"
)

// takeOver inherits the state of the predecessor: used nonces, open requests, and whether a token
// file existed.
func (a *Authenticator) takeOver(before *Authenticator) {
	if before == nil {
		return
	}
	a.nonces, a.held = before.nonces, before.held
	if a.file == before.file {
		a.filed.Store(before.filed.Load())
	}
	a.tokens.Store(before.tokens.Load()) // unchanged tokens keep their principals
}

// keep reuses the principals of unchanged tokens, because open requests point to them.
func (all tokens) keep(before tokens) {
	for sum, h := range all {
		if old := before[sum]; old != nil && samePrincipal(old.principal, h.principal) {
			h.principal = old.principal
		}
	}
}

// samePrincipal reports whether both are the same caller with the same roles and expiry.
func samePrincipal(a, b *access.Principal) bool {
	return a.Is(b) && slices.Equal(a.Roles, b.Roles) && a.Expires == b.Expires
}

// keptKey returns the predecessor's key if it is the same, else key.
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

// keptJWT returns the predecessor's verifier, with its fetched keys, if the settings are unchanged;
// else nil.
func (a *Authenticator) keptJWT(next *Authenticator) *jwtVerifier {
	if a == nil || a.publicURL != next.publicURL || !reflect.DeepEqual(a.opt.Settings.JWT, next.opt.Settings.JWT) ||
		!slices.Equal(a.opt.Settings.PrivateNetworks, next.opt.Settings.PrivateNetworks) {
		return nil
	}
	return a.jwt
}

// EndRevoked cancels the requests of callers whose credentials would now be refused.
func (a *Authenticator) EndRevoked() { a.held.end(a.wouldLetIn) }

// wouldLetIn reports whether the credential of a request is still accepted.
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
