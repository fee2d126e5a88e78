package access

import (
	"slices"
	"strconv"
)

// Principal is the caller. It is built once, when a credential is checked, and never changed.
// Sessions, limits, originals and the audit log all get the same value. The nil *Principal is a
// caller without valid credentials.
type Principal struct {
	Issuer  string   // who vouches: none, token, hmac, mtls, or the iss of a JWT
	Subject string   // unique per issuer
	Tenant  string   // owner of the originals and records that it sees
	Roles   []string // what rules match against
	Expires int64    // expiry of the credential in Unix seconds; 0: never
}

// Our own issuers.
const (
	IssuerNone  = "none"
	IssuerToken = "token"
	IssuerHMAC  = "hmac"
	IssuerMTLS  = "mtls"
)

// DefaultTenant is the tenant of callers without another one.
const DefaultTenant = "default"

// Roles with a built-in meaning.
const (
	RoleAdmin   = "admin"   // control plane, dashboard, metrics
	RoleMetrics = "metrics" // only metrics
)

// Anonymous returns the principal of callers where no credential is required.
func Anonymous() *Principal {
	return &Principal{Issuer: IssuerNone, Subject: "anonymous", Tenant: DefaultTenant, Roles: []string{RoleAdmin}}
}

// TokenHolderName is the subject of the holder of auth_token. No other token may have this name:
// rules, shares and originals depend on it.
const TokenHolderName = "token"

// TokenHolder returns the principal of auth_token.
func TokenHolder() *Principal {
	return &Principal{Issuer: IssuerToken, Subject: TokenHolderName, Tenant: DefaultTenant, Roles: []string{RoleAdmin}}
}

// Is reports whether both are the same caller. Roles may differ: they belong to the credential, not
// to the identity.
func (p *Principal) Is(other *Principal) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.Issuer == other.Issuer && p.Subject == other.Subject && p.Tenant == other.Tenant
}

// HasRole reports whether the caller has one of these roles.
func (p *Principal) HasRole(roles ...string) bool {
	return p != nil && slices.ContainsFunc(p.Roles, func(r string) bool { return slices.Contains(roles, r) })
}

// Name returns the subject, for people; "" for nil.
func (p *Principal) Name() string {
	if p == nil {
		return ""
	}
	return p.Subject
}

// Key identifies the caller in maps and seals; "" for nil. Keys of different callers always differ,
// whatever their names contain.
func (p *Principal) Key() string {
	if p == nil {
		return ""
	}
	b := make([]byte, 0, len(p.Issuer)+len(p.Tenant)+len(p.Subject)+8)
	b = strconv.AppendInt(b, int64(len(p.Issuer)), 10)
	b = append(append(b, ':'), p.Issuer...)
	b = strconv.AppendInt(b, int64(len(p.Tenant)), 10)
	b = append(append(b, ':'), p.Tenant...)
	return string(append(b, p.Subject...))
}

// Owner returns the tenant's name in stores. It is "" for the default tenant, which so keeps data
// stored before tenants existed.
func (p *Principal) Owner() string {
	if p == nil || p.Tenant == DefaultTenant {
		return ""
	}
	return p.Tenant
}
