package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"secateur/internal/access"
	"secateur/internal/auth"
)

// issuer is an identity provider as far as a resource server sees it.
type issuer struct {
	*httptest.Server
	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetches atomic.Int32
	away    atomic.Bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		if i.away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) publish(kid string, key crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Use: "sig"})
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()
	opt := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	for name, value := range header {
		opt.ExtraHeaders[jose.HeaderKey(name)] = value
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opt)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := out.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestJWT(t *testing.T) {
	idp := newIssuer(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	idp.publish("one", key)
	idp.publish("curve", curve)
	set := auth.Default()
	set.PublicURL = "https://tools.example"
	set.JWT = &auth.JWT{Issuer: idp.URL, TenantClaim: "org", RolesClaim: "realm_access.roles"}
	a := authenticator(t, auth.Options{Settings: set})

	now := time.Now()
	good := func(edit ...any) map[string]any {
		c := map[string]any{
			"iss": idp.URL, "sub": "alice", "aud": "https://tools.example/mcp", "exp": now.Add(time.Hour).Unix(), "org": "team-a",
			"realm_access": map[string]any{"roles": []string{"dev", "qa"}},
		}
		for i := 0; i < len(edit); i += 2 {
			if edit[i+1] == nil {
				delete(c, edit[i].(string))
			} else {
				c[edit[i].(string)] = edit[i+1]
			}
		}
		return c
	}
	kid := map[string]any{"kid": "one"}
	rs := func(claims map[string]any) string { return sign(t, jose.RS256, key, kid, claims) }
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	segment := func(v any) string {
		b, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	unsigned := segment(map[string]any{"alg": "none", "kid": "one"}) + "." + segment(good()) + "."
	parts := strings.Split(rs(good()), ".")
	swapped := parts[0] + "." + segment(good("sub", "root")) + "." + parts[2]
	own := jose.JSONWebKey{Key: other.Public(), KeyID: "own"}

	for _, c := range []struct {
		rule, token string
		cause       access.Cause
	}{
		{"good", rs(good()), ""},
		{"the other algorithm", sign(t, jose.ES256, curve, map[string]any{"kid": "curve"}, good()), ""},
		{"without kid", sign(t, jose.RS256, key, nil, good()), ""},
		{"several audiences", rs(good("aud", []string{"x", "https://tools.example"})), ""},
		{"within the leeway", rs(good("exp", now.Add(-50*time.Second).Unix())), ""},
		{"alg none", unsigned, access.CauseInvalid},
		{"RS to HS with the public key", sign(t, jose.HS256, pemKey, kid, good()), access.CauseInvalid},
		{"an algorithm that is not pinned", sign(t, jose.RS512, key, kid, good()), access.CauseInvalid},
		{"another key", sign(t, jose.RS256, other, kid, good()), access.CauseInvalid},
		{"a kid of another kind of key", sign(t, jose.RS256, key, map[string]any{"kid": "curve"}, good()), access.CauseInvalid},
		{"a kid that is a path", sign(t, jose.RS256, other, map[string]any{"kid": "../../../dev/null"}, good()), access.CauseInvalid},
		{"a key in the token", sign(t, jose.RS256, other, map[string]any{"jwk": own}, good()), access.CauseInvalid},
		{"an address of keys in the token", sign(t, jose.RS256, other, map[string]any{"kid": "x", "jku": idp.URL + "/keys"}, good()), access.CauseInvalid},
		{"crit", sign(t, jose.RS256, key, map[string]any{"kid": "one", "crit": []string{"exp"}}, good()), access.CauseInvalid},
		{"changed claims", swapped, access.CauseInvalid},
		{"another issuer", rs(good("iss", "https://evil.example")), access.CauseInvalid},
		{"another audience", rs(good("aud", "https://other.example")), access.CauseInvalid},
		{"no audience", rs(good("aud", nil)), access.CauseInvalid},
		{"no exp", rs(good("exp", nil)), access.CauseInvalid},
		{"no sub", rs(good("sub", nil)), access.CauseInvalid},
		{"no tenant", rs(good("org", nil)), access.CauseInvalid},
		{"expired", rs(good("exp", now.Add(-2*time.Minute).Unix())), access.CauseExpired},
		{"not yet", rs(good("nbf", now.Add(2*time.Minute).Unix())), access.CauseExpired},
		{"issued in the future", rs(good("iat", now.Add(2*time.Minute).Unix())), access.CauseExpired},
		{"no JWT", "a.b.c", access.CauseInvalid},
	} {
		for range 2 { // the second time it may be remembered
			p, v := a.Authenticate(get("Authorization", "Bearer "+c.token))
			if (p != nil) != (c.cause == "") || v.Cause != c.cause {
				t.Errorf("%s: %+v, %q, want %q", c.rule, p, v.Cause, c.cause)
			}
			if p != nil && (p.Issuer != idp.URL || p.Subject != "alice" || p.Tenant != "team-a" || !p.HasRole("qa") || p.Expires <= now.Unix()) {
				t.Errorf("%s: %+v", c.rule, p)
			}
		}
	}
	_, v := a.Authenticate(get())
	if want := `Bearer realm="secateur", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`; v.Challenge != want {
		t.Errorf("challenge %s, want %s", v.Challenge, want)
	}
	if n := idp.fetches.Load(); n > 1 {
		t.Errorf("unknown keys made %d fetches within ten seconds, want 1", n)
	}
}

func TestKnownKeysServeWhileTheIssuerIsAway(t *testing.T) {
	idp := newIssuer(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	idp.publish("one", key)
	set := auth.Default()
	set.JWT = &auth.JWT{Issuer: idp.URL, Audience: []string{"us"}}
	a := authenticator(t, auth.Options{Settings: set})
	token := func(sub string) string {
		return sign(t, jose.ES256, key, map[string]any{"kid": "one"}, map[string]any{"iss": idp.URL, "sub": sub, "aud": "us", "exp": time.Now().Add(time.Hour).Unix()})
	}
	if p, v := a.Authenticate(get("Authorization", "Bearer "+token("a"))); p == nil {
		t.Fatal(v)
	}
	idp.away.Store(true)
	if p, v := a.Authenticate(get("Authorization", "Bearer "+token("b"))); p == nil || p.Tenant != "default" {
		t.Errorf("with the issuer away: %+v, %+v", p, v)
	}
	b := authenticator(t, auth.Options{Settings: set})
	if p, v := b.Authenticate(get("Authorization", "Bearer "+token("a"))); p != nil || v.Cause != access.CauseInvalid {
		t.Errorf("without any key: %+v, %+v, want a refusal", p, v)
	}
}

func TestMetadata(t *testing.T) {
	set := auth.Default()
	set.PublicURL = "https://tools.example/"
	set.JWT = &auth.JWT{Issuer: "https://id.example"}
	a := authenticator(t, auth.Options{Settings: set})
	for path, status := range map[string]int{"": 200, "/mcp": 200, "/mcp/files": 200, "/v1": 404, "/mcp/a/b": 404} {
		rec := httptest.NewRecorder()
		a.ServeMetadata(rec, httptest.NewRequest(http.MethodGet, "/.well-known/oauth-protected-resource"+path, http.NoBody))
		want := `{"resource":"https://tools.example` + path + `","authorization_servers":["https://id.example"],"bearer_methods_supported":["header"]}`
		if rec.Code != status || status == 200 && strings.TrimSpace(rec.Body.String()) != want {
			t.Errorf("%q: %d %s, want %d %s", path, rec.Code, rec.Body, status, want)
		}
	}
}
