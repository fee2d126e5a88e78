package auth_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/secret"
)

func authenticator(t *testing.T, opt auth.Options) *auth.Authenticator {
	t.Helper()
	if err := opt.Settings.Validate(); opt.Settings.Default != "" && err != nil {
		t.Fatal(err)
	}
	a, err := auth.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestTokens(t *testing.T) {
	set := auth.Default()
	set.Tokens = []auth.Token{
		{Name: "ci", Hash: hashOf("ci-token"), Tenant: "team-a", Roles: []string{"dev"}},
		{Name: "old", Hash: hashOf("old-token"), Expires: time.Now().Add(-time.Second)},
	}
	a := authenticator(t, auth.Options{Settings: set, Token: secret.New("shared")})
	for _, c := range []struct {
		rule    string
		in      *http.Request
		subject string
		tenant  string
		cause   access.Cause
	}{
		{"auth_token", get("Authorization", "Bearer shared"), "token", "default", ""},
		{"a token of the file", get("Authorization", "bearer ci-token"), "ci", "team-a", ""},
		{"our own header", get("X-Secateur-Token", "ci-token"), "ci", "team-a", ""},
		{"our own header comes first", get("X-Secateur-Token", "ci-token", "Authorization", "Bearer shared"), "ci", "team-a", ""},
		{"a bad one is not made good by the next", get("X-Secateur-Token", "no", "Authorization", "Bearer shared"), "", "", access.CauseInvalid},
		{"nothing", get(), "", "", access.CauseMissing},
		{"another scheme is nothing of ours", get("Authorization", "Basic shared"), "", "", access.CauseMissing},
		{"case counts", get("Authorization", "Bearer Shared"), "", "", access.CauseInvalid},
		{"the hash is no token", get("Authorization", "Bearer "+hashOf("ci-token")), "", "", access.CauseInvalid},
		{"expired", get("Authorization", "Bearer old-token"), "", "", access.CauseExpired},
	} {
		p, v := a.Authenticate(c.in)
		switch {
		case c.cause != "":
			if p != nil || v.Kind != access.Unauthorized || v.Cause != c.cause {
				t.Errorf("%s: %+v, %+v, want %s", c.rule, p, v, c.cause)
			}
			if hasError := strings.Contains(v.Challenge, `error="invalid_token"`); hasError != (c.cause != access.CauseMissing) {
				t.Errorf("%s: challenge %s", c.rule, v.Challenge)
			}
		case p == nil || p.Subject != c.subject || p.Tenant != c.tenant || p.Issuer != "token":
			t.Errorf("%s: %+v, %+v, want %s of %s", c.rule, p, v, c.subject, c.tenant)
		}
	}
}

func TestWhatWasShownToUsDoesNotGoOn(t *testing.T) {
	a := authenticator(t, auth.Options{Settings: auth.Default(), Token: secret.New("shared")})
	bearer := get("Authorization", "Bearer shared")
	own := get("X-Secateur-Token", "shared", "Authorization", "Bearer provider-key")
	for _, r := range []*http.Request{bearer, own} {
		if _, v := a.Authenticate(r); v.Kind != access.Allowed {
			t.Fatal(v)
		}
	}
	if bearer.Header.Get("Authorization") != "" || own.Header.Get("X-Secateur-Token") != "" {
		t.Error("our token goes on")
	}
	if own.Header.Get("Authorization") != "Bearer provider-key" {
		t.Error("the provider's key does not go on")
	}

	set := auth.Default()
	set.Tokens = []auth.Token{{Name: "ci", Hash: hashOf("ci-token")}, {Name: "old", Hash: hashOf("old-token"), Expires: time.Unix(1, 0)}}
	a = authenticator(t, auth.Options{Settings: set})
	both := get("X-Secateur-Token", "ci-token", "Authorization", "Bearer ci-token", "X-Api-Key", "old-token", "Api-Key", "provider-key")
	if _, v := a.Authenticate(both); v.Kind != access.Allowed {
		t.Fatal(v)
	}
	if len(both.Header) != 1 || both.Header.Get("Api-Key") != "provider-key" {
		t.Errorf("headers that go on: %v, want the provider's alone", both.Header)
	}
}

func TestNothingAsked(t *testing.T) {
	a := authenticator(t, auth.Options{Settings: auth.Default()})
	r := get("Authorization", "Bearer provider-key")
	p, v := a.Authenticate(r)
	if v.Kind != access.Allowed || p.Subject != "anonymous" || p.Issuer != "none" || !p.HasRole("admin") || r.Header.Get("Authorization") == "" {
		t.Errorf("%+v, %+v, %v", p, v, r.Header)
	}
}

func TestTokenFileIsFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		a := authenticator(t, auth.Options{Settings: auth.Default(), StateDir: dir})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- a.Run(ctx) }()
		file := auth.TokenFileOf(auth.Default(), dir)
		text, made, err := file.Add(auth.Token{Name: "laptop", Tenant: "home", Roles: []string{"dev"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != 4+43 || !strings.HasPrefix(text, "sct_") || made.Hash != hashOf(text) {
			t.Errorf("token %q, hash %q", text, made.Hash)
		}
		if _, _, err := file.Add(auth.Token{Name: "laptop"}); err == nil {
			t.Error("a second token of the same name")
		}
		time.Sleep(2 * time.Second)
		p, v := a.Authenticate(get("Authorization", "Bearer "+text))
		if v.Kind != access.Allowed || p.Subject != "laptop" || p.Tenant != "home" {
			t.Fatalf("after two seconds: %+v, %+v", p, v)
		}
		stream, release := a.Hold(t.Context(), p, nil)
		defer release()
		if err := file.Revoke("laptop"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if stream.Err() == nil {
			t.Error("a stream outlives its token by two seconds")
		}
		if _, v := a.Authenticate(get("Authorization", "Bearer "+text)); v.Cause != access.CauseInvalid {
			t.Errorf("after the revocation: %+v", v)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	info, err := os.Stat(filepath.Join(dir, "tokens.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want 0600", info, err)
	}
	data, _ := os.ReadFile(filepath.Join(dir, "tokens.json"))
	if strings.Contains(string(data), "sct_") {
		t.Error("the file holds a token")
	}
}

func TestTokenFileThatCannotBeReadKeepsTheProgramFromStarting(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.New(auth.Options{Settings: auth.Default(), StateDir: dir}); err == nil {
		t.Error("a broken token file opens the doors")
	}
}

func TestParseLife(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "15m": 15 * time.Minute, "24h": 24 * time.Hour, "30d": 720 * time.Hour} {
		if got, err := auth.ParseLife(text); err != nil || got != want {
			t.Errorf("ParseLife(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "0s", "1w", "90"} {
		if got, err := auth.ParseLife(text); err == nil {
			t.Errorf("ParseLife(%q) = %v", text, got)
		}
	}
}

func TestSettingsValidate(t *testing.T) {
	for _, c := range []struct {
		rule string
		edit func(*auth.Settings)
		want string
	}{
		{"default", func(s *auth.Settings) { s.Default = "maybe" }, "default: "},
		{"audit", func(s *auth.Settings) { s.Audit = "file:" }, "audit: "},
		{"public_url", func(s *auth.Settings) { s.PublicURL = "tools.example" }, "public_url: "},
		{"private_networks", func(s *auth.Settings) { s.PrivateNetworks = []string{"10.0.0.0"} }, "private_networks[0]: "},
		{"a name twice", func(s *auth.Settings) { s.Tokens = []auth.Token{{Name: "a"}, {Name: "a"}} }, "tokens[1].name: "},
		{"the name of auth_token's holder", func(s *auth.Settings) { s.Tokens = []auth.Token{{Name: "token"}} }, "tokens[0].name: \"token\" is reserved"},
		{"no key id", func(s *auth.Settings) { s.HMAC = []auth.HMAC{{}} }, "hmac[0].key_id: missing"},
	} {
		set := auth.Default()
		c.edit(&set)
		if err := set.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.rule, err, c.want)
		}
	}
	for _, bad := range []interface{ Validate() error }{
		auth.Token{Hash: "sha256:12"},
		auth.JWT{},
		auth.JWT{Issuer: "http://id.example"},
		auth.JWT{Issuer: "https://id.example", Algorithms: []string{"HS256"}},
		auth.JWT{Issuer: "https://id.example", Algorithms: []string{"none"}},
		auth.HMAC{Secret: secret.New("short")},
		auth.Certificate{},
		auth.TLS{Cert: "a"},
		auth.TLS{ClientCA: "a"},
		auth.TLS{Cert: "a", Key: "b", ClientAuth: "never"},
		auth.TLS{Cert: "a", Key: "b", ClientAuth: "required"},
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	set := auth.Default()
	requests := make([]*http.Request, 10_000)
	for i := range requests {
		text := "sct_" + strings.Repeat("x", 35) + hex.EncodeToString([]byte{byte(i >> 8), byte(i), 0, 0})
		set.Tokens = append(set.Tokens, auth.Token{Name: text, Hash: hashOf(text)})
		requests[i] = get("X-Secateur-Token", text)
	}
	a, err := auth.New(auth.Options{Settings: set})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r := requests[i%len(requests)]
		held := r.Header["X-Secateur-Token"]
		if p, _ := a.Authenticate(r); p == nil {
			b.Fatal("refused")
		}
		r.Header["X-Secateur-Token"] = held
		i++
	}
}
