package access

import (
	"slices"
	"strconv"
)

// Principal is whoever calls. It is made once, when a credential is checked, and handed down as it is: to sessions, limits,
// originals and the audit. It is not changed afterwards. The nil *Principal is a caller who has shown nothing that counts.
type Principal struct {
	Issuer  string   // who vouches: none, token, hmac, mtls, or the iss of a JWT
	Subject string   // unique with its issuer
	Tenant  string   // whose originals and records it sees
	Roles   []string // what rules may ask for
	Expires int64    // when what was shown is good no longer, in Unix seconds; 0: it has no end of its own
}

// The issuers of our own.
const (
	IssuerNone  = "none"
	IssuerToken = "token"
	IssuerHMAC  = "hmac"
	IssuerMTLS  = "mtls"
)

// DefaultTenant is whose callers belong to no other.
const DefaultTenant = "default"

// The roles that mean something to the program itself.
const (
	RoleAdmin   = "admin"   // control plane, dashboard, metrics
	RoleMetrics = "metrics" // metrics alone
)

// Anonymous is the principal where no credential is asked.
func Anonymous() *Principal {
	return &Principal{Issuer: IssuerNone, Subject: "anonymous", Tenant: DefaultTenant, Roles: []string{RoleAdmin}}
}

// TokenHolderName is the subject of auth_token's holder. No other token may have this name: rules, shares and originals go by it.
const TokenHolderName = "token"

// TokenHolder is the principal of auth_token.
func TokenHolder() *Principal {
	return &Principal{Issuer: IssuerToken, Subject: TokenHolderName, Tenant: DefaultTenant, Roles: []string{RoleAdmin}}
}

// Is reports whether both are the same caller. Roles may differ: they are what a credential grants, not who it names.
func (p *Principal) Is(other *Principal) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.Issuer == other.Issuer && p.Subject == other.Subject && p.Tenant == other.Tenant
}

// HasRole reports whether one of the caller's roles is among these.
func (p *Principal) HasRole(roles ...string) bool {
	return p != nil && slices.ContainsFunc(p.Roles, func(r string) bool { return slices.Contains(roles, r) })
}

// Name is the subject, for people; "" of nobody.
func (p *Principal) Name() string {
	if p == nil {
		return ""
	}
	return p.Subject
}

// Key names the caller among all others, for maps and seals; "" for nil. No two callers share one, whatever is in their names.
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

// Owner is the tenant as stores know it. The default tenant has no name there, so that what was kept before there were tenants is its own.
func (p *Principal) Owner() string {
	if p == nil || p.Tenant == DefaultTenant {
		return ""
	}
	return p.Tenant
}
