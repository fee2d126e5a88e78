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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"secateur/internal/access"
	"secateur/internal/access/auth"
)

// issuer is an in-memory identity provider, as a resource server sees it.
type issuer struct {
	mux     *http.ServeMux
	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetches atomic.Int32
	away    atomic.Bool
}

const issuerURL = "https://id.example"

func newIssuer() *issuer {
	i := &issuer{mux: http.NewServeMux()}
	i.mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": issuerURL, "jwks_uri": issuerURL + "/keys", "authorization_endpoint": issuerURL + "/auth", "token_endpoint": issuerURL + "/token",
		})
	})
	i.mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		if i.away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
	})
	return i
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	i.mux.ServeHTTP(rec, r)
	res := rec.Result()
	res.Request = r
	return res, nil
}

func (i *issuer) authenticator(t *testing.T, set auth.Settings) *auth.Authenticator {
	t.Helper()
	return authenticator(t, auth.Options{Settings: set, Client: &http.Client{Transport: i}})
}

func (i *issuer) publish(kid string, key crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: kid, Use: "sig"})
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header map[string]any, claims any) string {
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

func TestJWT(t *testing.T) { synctest.Test(t, testJWT) }

func signText(t *testing.T, key any, header map[string]any, claims string) string {
	t.Helper()
	return sign(t, jose.RS256, key, header, json.RawMessage(claims))
}

func testJWT(t *testing.T) {
	idp := newIssuer()
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
	shared := []byte("a secret that the issuer should not have published")
	idp.keys = append(idp.keys, jose.JSONWebKey{Key: shared, KeyID: "shared", Use: "sig"})
	set := auth.Default()
	set.PublicURL = "https://tools.example"
	set.JWT = &auth.JWT{Issuer: issuerURL, TenantClaim: "org", RolesClaim: "realm_access.roles"}
	a := idp.authenticator(t, set)

	now := time.Now()
	good := func(edit ...any) map[string]any {
		c := map[string]any{
			"iss": issuerURL, "sub": "alice", "aud": "https://tools.example/mcp", "exp": now.Add(time.Hour).Unix(), "org": "team-a",
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
		{"a shared key that the issuer publishes", sign(t, jose.HS256, shared, map[string]any{"kid": "shared"}, good()), access.CauseInvalid},
		{"another key", sign(t, jose.RS256, other, kid, good()), access.CauseInvalid},
		{"a kid of another kind of key", sign(t, jose.RS256, key, map[string]any{"kid": "curve"}, good()), access.CauseInvalid},
		{"a kid that is a path", sign(t, jose.RS256, other, map[string]any{"kid": "../../../dev/null"}, good()), access.CauseInvalid},
		{"a key in the token", sign(t, jose.RS256, other, map[string]any{"jwk": own}, good()), access.CauseInvalid},
		{"an address of keys in the token", sign(t, jose.RS256, other, map[string]any{"kid": "x", "jku": issuerURL + "/keys"}, good()), access.CauseInvalid},
		{"crit", sign(t, jose.RS256, key, map[string]any{"kid": "one", "crit": []string{"exp"}}, good()), access.CauseInvalid},
		{"changed claims", swapped, access.CauseInvalid},
		{"another issuer", rs(good("iss", "https://evil.example")), access.CauseInvalid},
		{"another audience", rs(good("aud", "https://other.example")), access.CauseInvalid},
		{"no audience", rs(good("aud", nil)), access.CauseInvalid},
		{"no exp", rs(good("exp", nil)), access.CauseInvalid},
		{"no sub", rs(good("sub", nil)), access.CauseInvalid},
		{"no tenant", rs(good("org", nil)), access.CauseInvalid},
		{"a tenant without a name", rs(good("org", []string{""})), access.CauseInvalid},
		{"two tenants", rs(good("org", "team-a team-b")), access.CauseInvalid},
		{"a second subject in capitals", rs(good("SUB", "root")), access.CauseInvalid},
		{"a second audience in capitals", rs(good("aud", "https://other.example", "Aud", "https://tools.example")), access.CauseInvalid},
		{"a second expiry in capitals", rs(good("exp", now.Add(-time.Hour).Unix(), "eXp", now.Add(time.Hour).Unix())), access.CauseInvalid},
		{"a second issuer in capitals", sign(t, jose.RS256, key, kid, good("iss", "https://evil.example", "Iss", issuerURL)), access.CauseInvalid},
		{"a subject twice", signText(t, key, kid, `{"iss":"`+issuerURL+`","sub":"alice","aud":"https://tools.example","exp":4102444800,"org":"team-a","sub":"root"}`), access.CauseInvalid},
		{"expired", rs(good("exp", now.Add(-2*time.Minute).Unix())), access.CauseExpired},
		{"not yet", rs(good("nbf", now.Add(2*time.Minute).Unix())), access.CauseExpired},
		{"issued in the future", rs(good("iat", now.Add(2*time.Minute).Unix())), access.CauseExpired},
		{"no JWT", "a.b.c", access.CauseInvalid},
	} {
		for range 2 { // the second time it may come from the cache
			p, v := a.Authenticate(get("Authorization", "Bearer "+c.token))
			if (p != nil) != (c.cause == "") || v.Cause != c.cause {
				t.Errorf("%s: %+v, %q, want %q", c.rule, p, v.Cause, c.cause)
			}
			if p != nil && (p.Issuer != issuerURL || p.Subject != "alice" || p.Tenant != "team-a" || !p.HasRole("qa") || p.Expires <= now.Unix()) {
				t.Errorf("%s: %+v", c.rule, p)
			}
		}
	}
	_, v := a.Authenticate(get())
	if want := `Bearer realm="secateur", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`; v.Challenge != want {
		t.Errorf("challenge %s, want %s", v.Challenge, want)
	}
	if n := idp.fetches.Load(); n != 1 {
		t.Errorf("unknown keys made %d fetches within ten seconds, want 1", n)
	}
}

// The first token that names a new key triggers a fetch, at most every ten seconds. A withdrawn key
// stays valid only as long as its tokens are cached.
func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idp := newIssuer()
		keys := map[string]*ecdsa.PrivateKey{}
		for _, kid := range []string{"old", "new", "never"} {
			var err error
			if keys[kid], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
				t.Fatal(err)
			}
		}
		idp.publish("old", keys["old"])
		set := auth.Default()
		set.JWT = &auth.JWT{Issuer: issuerURL, Audience: []string{"us"}}
		a := idp.authenticator(t, set)
		try := func(kid, sub string) bool {
			token := sign(t, jose.ES256, keys[kid], map[string]any{"kid": kid}, map[string]any{"iss": issuerURL, "sub": sub, "aud": "us", "exp": time.Now().Add(time.Hour).Unix()})
			p, _ := a.Authenticate(get("Authorization", "Bearer "+token))
			return p != nil
		}
		if !try("old", "a") {
			t.Fatal("the first key")
		}
		idp.mu.Lock()
		idp.keys = nil
		idp.mu.Unlock()
		idp.publish("new", keys["new"])
		if try("new", "a") {
			t.Error("fetched again within ten seconds")
		}
		time.Sleep(10 * time.Second)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				if !try("new", strconv.Itoa(i)) {
					t.Error("the new key is not taken")
				}
				if try("never", strconv.Itoa(i)) {
					t.Error("a key that the issuer does not have")
				}
			})
		}
		all.Wait()
		if n := idp.fetches.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
		if try("old", "b") {
			t.Error("the withdrawn key still serves")
		}
		idp.away.Store(true)
		time.Sleep(time.Minute)
		if try("never", "c") || !try("new", "c") {
			t.Error("with the issuer away the known keys serve, and no others")
		}
	})
}

func TestKnownKeysServeWhileTheIssuerIsAway(t *testing.T) {
	idp := newIssuer()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	idp.publish("one", key)
	set := auth.Default()
	set.JWT = &auth.JWT{Issuer: issuerURL, Audience: []string{"us"}}
	a := idp.authenticator(t, set)
	token := func(sub string) string {
		return sign(t, jose.ES256, key, map[string]any{"kid": "one"}, map[string]any{"iss": issuerURL, "sub": sub, "aud": "us", "exp": time.Now().Add(time.Hour).Unix()})
	}
	if p, v := a.Authenticate(get("Authorization", "Bearer "+token("a"))); p == nil {
		t.Fatal(v)
	}
	idp.away.Store(true)
	if p, v := a.Authenticate(get("Authorization", "Bearer "+token("b"))); p == nil || p.Tenant != "default" {
		t.Errorf("with the issuer away: %+v, %+v", p, v)
	}
	b := idp.authenticator(t, set)
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

// A slow issuer delays only callers whose key is unknown.
func TestASlowIssuerHoldsUpNobodyWhoseKeyIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idp := newIssuer()
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		idp.publish("one", key)
		set := auth.Default()
		set.PublicURL = "https://tools.example"
		set.JWT = &auth.JWT{Issuer: issuerURL}
		slow := &slowIssuer{issuer: idp, answers: make(chan struct{})}
		a := authenticator(t, auth.Options{Settings: set, Client: &http.Client{Transport: slow}})
		ask := func(kid, sub string) access.Verdict {
			claims := map[string]any{"iss": issuerURL, "sub": sub, "aud": "https://tools.example/mcp", "exp": time.Now().Add(time.Hour).Unix()}
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header.Set("Authorization", "Bearer "+sign(t, jose.RS256, key, map[string]any{"kid": kid}, claims))
			_, v := a.Authenticate(r)
			return v
		}
		if v := ask("one", "alice"); v.Kind != access.Allowed {
			t.Fatalf("a known key: %+v", v)
		}
		time.Sleep(time.Minute)
		slow.hangs.Store(true)
		var strangers sync.WaitGroup
		for range 2 { // they share a fetch
			strangers.Go(func() {
				if v := ask("two", "bob"); v.Kind != access.Unauthorized {
					t.Errorf("an unknown key: %+v", v)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if v := ask("one", "carol"); v.Kind != access.Allowed || time.Since(began) > 0 {
			t.Errorf("a known key while the issuer hangs: %+v after %v, want to be let in at once", v, time.Since(began))
		}
		if n := slow.hung.Load(); n != 1 {
			t.Errorf("%d fetches under way, want one", n)
		}
		close(slow.answers)
		strangers.Wait()
	})
}

// slowIssuer is an issuer that can hang until it is told to answer.
type slowIssuer struct {
	*issuer
	answers chan struct{}
	hangs   atomic.Bool
	hung    atomic.Int32
}

func (s *slowIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.hangs.Load() {
		s.hung.Add(1)
		select {
		case <-s.answers:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return s.issuer.RoundTrip(r)
}
