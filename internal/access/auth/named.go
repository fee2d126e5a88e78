package auth

import (
	"errors"
	"fmt"
	"strings"

	"secateur/internal/access"
)

// Named returns the principal with a token name, an HMAC key id, or a description
// subject=a,tenant=b,role=c. filed are the tokens of the token file.
func Named(s Settings, filed []Token, text string) (*access.Principal, error) {
	if strings.Contains(text, "=") {
		return described(text)
	}
	for _, list := range [][]Token{filed, s.Tokens} {
		for _, t := range list {
			if t.Name == text {
				return principal(access.IssuerToken, t.Name, t.Tenant, t.Roles), nil
			}
		}
	}
	for _, h := range s.HMAC {
		if h.KeyID == text {
			return principal(access.IssuerHMAC, h.KeyID, h.Tenant, h.Roles), nil
		}
	}
	switch text {
	case "token":
		return access.TokenHolder(), nil
	case "anonymous":
		return access.Anonymous(), nil
	}
	return nil, fmt.Errorf("no token and no key has the name %q; describe the caller as subject=a,tenant=b,role=c", text)
}

func described(text string) (*access.Principal, error) {
	p := &access.Principal{Tenant: access.DefaultTenant}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "subject":
			p.Subject = value
		case "tenant":
			p.Tenant = value
		case "role":
			p.Roles = append(p.Roles, value)
		case "issuer":
			p.Issuer = value
		default:
			return nil, errors.New("a caller is described as subject=a,tenant=b,role=c")
		}
	}
	return p, nil
}

// Named returns the principal for a name, as the function Named does.
func (a *Authenticator) Named(text string) (*access.Principal, error) {
	filed, err := a.file.Read()
	if err != nil {
		return nil, err
	}
	return Named(a.opt.Settings, filed, text)
}
