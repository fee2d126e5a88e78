package auth

import (
	"testing"

	"secateur/internal/access"
	"secateur/internal/secret"
)

// A token holder authenticated by another replica gets the principal and roles of that token here.
// Without such a token here, it is refused.
func TestRecognize(t *testing.T) {
	token := &access.Principal{Issuer: access.IssuerToken, Subject: "token", Tenant: access.DefaultTenant, Roles: []string{"another"}}
	revoked := &access.Principal{Issuer: access.IssuerToken, Subject: "laptop", Tenant: access.DefaultTenant}
	signed := &access.Principal{Issuer: access.IssuerHMAC, Subject: "job", Tenant: "team"}
	anonymous := &access.Principal{Issuer: access.IssuerNone, Subject: "anonymous", Tenant: access.DefaultTenant}
	asking, err := New(Options{Settings: Default(), Token: secret.New("a token that is long")})
	if err != nil {
		t.Fatal(err)
	}
	if p := asking.Recognize(token); !p.Is(token) || !p.HasRole(access.RoleAdmin) || p.HasRole("another") || !asking.stillGood(owner{principal: p}) {
		t.Errorf("the holder of a token: %+v", p)
	}
	if p := asking.Recognize(signed); !p.Is(signed) {
		t.Errorf("who has signed: %+v", p)
	}
	for _, p := range []*access.Principal{revoked, anonymous} {
		if got := asking.Recognize(p); got != nil {
			t.Errorf("%s is %+v, want nobody", p.Subject, got)
		}
	}
	open, err := New(Options{Settings: Default()})
	if err != nil {
		t.Fatal(err)
	}
	if p := open.Recognize(anonymous); !p.Is(anonymous) {
		t.Errorf("where nobody is asked: %+v", p)
	}
}
