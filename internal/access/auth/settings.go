package auth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/secret"
)

// Settings is the section [auth].
type Settings struct {
	PublicURL string   `toml:"public_url"` // our address for clients; "": scheme and listen
	TokenFile string   `toml:"token_file"` // "": tokens.json in the state directory
	Default   string   `toml:"default"`    // if no rule matches: allow | deny
	Explain   []string `toml:"explain"`    // roles whose refusals name the rule
	Audit     string   `toml:"audit"`      // off | log | file:PATH
	// CIDRs that addresses chosen by a peer may reach
	PrivateNetworks []string      `toml:"private_networks"`
	Tokens          []Token       `toml:"tokens"`
	JWT             *JWT          `toml:"jwt"` // nil: no JWTs
	HMAC            []HMAC        `toml:"hmac"`
	Certificates    []Certificate `toml:"certificates"`
}

// Default requires no credential and denies nothing.
func Default() Settings {
	return Settings{Default: access.ActionAllow, Explain: []string{access.RoleAdmin}, Audit: AuditLog}
}

// Destinations of the audit log, besides file:PATH.
const (
	AuditOff = "off"
	AuditLog = "log"
)

// Token is a static token, stored as a hash.
type Token struct {
	Name    string    `toml:"name" json:"name"`
	Hash    string    `toml:"hash" json:"hash"` // sha256: and 64 hexadecimal digits
	Tenant  string    `toml:"tenant" json:"tenant"`
	Roles   []string  `toml:"roles" json:"roles"`
	Expires time.Time `toml:"expires" json:"expires,omitzero"` // zero: never
}

// JWT says which tokens of an identity provider are accepted.
type JWT struct {
	Issuer      string        `toml:"issuer"`
	Audience    []string      `toml:"audience"`   // none: public_url and public_url/mcp
	Algorithms  []string      `toml:"algorithms"` // none: RS256 and ES256
	TenantClaim string        `toml:"tenant_claim"`
	RolesClaim  string        `toml:"roles_claim"` // "": roles
	Leeway      time.Duration `toml:"leeway_s"`    // 0: one minute
}

// HMAC is a key for signed requests.
type HMAC struct {
	KeyID  string      `toml:"key_id"`
	Secret secret.Text `toml:"secret"`
	Tenant string      `toml:"tenant"`
	Roles  []string    `toml:"roles"`
}

// Certificate maps a client certificate to a principal.
type Certificate struct {
	SAN    access.Globs `toml:"san"`
	Tenant string       `toml:"tenant"`
	Roles  []string     `toml:"roles"`
}

// TLS is the section [tls].
type TLS struct {
	Cert       string `toml:"cert"`
	Key        string `toml:"key"`
	ClientCA   string `toml:"client_ca"`
	ClientCRL  string `toml:"client_crl"`
	ClientAuth string `toml:"client_auth"` // optional | required
}

// In returns the section with relative file names resolved against dir.
func (t TLS) In(dir string) TLS {
	for _, name := range []*string{&t.Cert, &t.Key, &t.ClientCA, &t.ClientCRL} {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(dir, *name)
		}
	}
	return t
}

// The values of client_auth.
const (
	ClientOptional = "optional"
	ClientRequired = "required"
)

// Asks reports whether a credential is configured, besides auth_token and the token file.
func (s Settings) Asks() bool {
	return len(s.Tokens) > 0 || s.JWT != nil || len(s.HMAC) > 0 || len(s.Certificates) > 0
}

// NamesTenants reports whether callers may belong to another tenant than the default.
func (s Settings) NamesTenants() bool {
	named := func(tenant string) bool { return tenant != "" && tenant != access.DefaultTenant }
	return s.JWT != nil && s.JWT.TenantClaim != "" ||
		slices.ContainsFunc(s.Tokens, func(t Token) bool { return named(t.Tenant) }) ||
		slices.ContainsFunc(s.HMAC, func(h HMAC) bool { return named(h.Tenant) }) ||
		slices.ContainsFunc(s.Certificates, func(c Certificate) bool { return named(c.Tenant) })
}

// Networks returns the private networks that addresses chosen by a peer may reach.
func (s Settings) Networks() (list []netip.Prefix) {
	for _, n := range s.PrivateNetworks {
		if p, err := netip.ParsePrefix(n); err == nil { // Validate has checked it
			list = append(list, p)
		}
	}
	return list
}

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.Default != access.ActionAllow && s.Default != access.ActionDeny {
		complain("default: %q is neither allow nor deny", s.Default)
	}
	if path, ok := strings.CutPrefix(s.Audit, "file:"); s.Audit != AuditOff && s.Audit != AuditLog && (!ok || path == "") {
		complain("audit: expected off, log or file:PATH")
	}
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
			complain("public_url: expected a URL such as https://tools.example")
		}
	}
	for i, n := range s.PrivateNetworks {
		if _, err := netip.ParsePrefix(n); err != nil {
			complain("private_networks[%d]: expected a network such as 10.0.0.0/8", i)
		}
	}
	seen := map[string]string{}
	unique := func(key, name, what string) {
		if name == "" {
			complain("%s: missing", key)
		} else if other, twice := seen[what+name]; twice {
			complain("%s: %q is the name of %s too", key, name, other)
		} else {
			seen[what+name] = strings.TrimSuffix(key, key[strings.LastIndexByte(key, '.'):])
		}
	}
	for i, t := range s.Tokens {
		unique(fmt.Sprintf("tokens[%d].name", i), t.Name, "token ")
		if t.Name == access.TokenHolderName {
			complain("tokens[%d].name: %q is reserved for the holder of auth_token; choose another name", i, t.Name)
		}
	}
	for i, h := range s.HMAC {
		unique(fmt.Sprintf("hmac[%d].key_id", i), h.KeyID, "hmac ")
	}
	return errors.Join(errs...)
}

// Validate reports every mistake of a token except those of its name.
func (t Token) Validate() error {
	if _, err := t.sum(); err != nil {
		return fmt.Errorf("hash: %w", err)
	}
	return nil
}

// sum returns the decoded hash.
func (t Token) sum() (sum [32]byte, err error) {
	digits, ok := strings.CutPrefix(t.Hash, "sha256:")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != len(sum) {
		return sum, errors.New("expected sha256: and 64 hexadecimal digits; 'secateur token new' makes one")
	}
	return [32]byte(raw), nil
}

// defaultAlgorithms apply if the file names none; allAlgorithms are the supported ones. None is
// symmetric: a public key must never serve as a shared secret.
var (
	defaultAlgorithms = []string{"RS256", "ES256"}
	allAlgorithms     = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)

// Validate reports every mistake.
func (j JWT) Validate() error {
	var errs []error
	u, err := url.Parse(j.Issuer)
	switch {
	case j.Issuer == "":
		errs = append(errs, errors.New("issuer: missing"))
	case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !access.IsLoopback(u.Hostname())):
		errs = append(errs, errors.New("issuer: expected an https URL, or http on loopback"))
	}
	for i, a := range j.Algorithms {
		if !slices.Contains(allAlgorithms, a) {
			errs = append(errs, fmt.Errorf("algorithms[%d]: %q is none of %s", i, a, strings.Join(allAlgorithms, ", ")))
		}
	}
	return errors.Join(errs...)
}

// leastSecret is the minimum length of an HMAC secret, in characters.
const leastSecret = 32

// Validate reports every mistake except those of the key id.
func (h HMAC) Validate() error {
	if len(h.Secret.Reveal()) < leastSecret {
		return fmt.Errorf("secret: shorter than %d characters", leastSecret)
	}
	return nil
}

// Validate reports every mistake.
func (c Certificate) Validate() error {
	if len(c.SAN) == 0 || slices.Contains(c.SAN, "") {
		return errors.New("san: missing; no row may match every certificate by accident, say \"*\" for that")
	}
	return nil
}

// Validate reports every mistake.
func (t TLS) Validate() error {
	var errs []error
	if (t.Cert == "") != (t.Key == "") {
		errs = append(errs, errors.New("cert and key belong together"))
	}
	if t.Cert == "" && (t.ClientCA != "" || t.ClientCRL != "" || t.ClientAuth != "") {
		errs = append(errs, errors.New("client certificates need cert and key of our own"))
	}
	if t.ClientAuth != "" && t.ClientAuth != ClientOptional && t.ClientAuth != ClientRequired {
		errs = append(errs, fmt.Errorf("client_auth: %q is neither optional nor required", t.ClientAuth))
	}
	if t.ClientCA == "" && (t.ClientCRL != "" || t.ClientAuth == ClientRequired) {
		errs = append(errs, errors.New("client_ca: missing"))
	}
	return errors.Join(errs...)
}

// principal returns the principal of a configured credential.
func principal(issuer, subject, tenant string, roles []string) *access.Principal {
	if tenant == "" {
		tenant = access.DefaultTenant
	}
	return &access.Principal{Issuer: issuer, Subject: subject, Tenant: tenant, Roles: roles}
}
