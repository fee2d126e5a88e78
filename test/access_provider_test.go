package test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
)

// guardedProvider is a model provider that accepts tokens of an identity provider, and records who
// called with which.
type guardedProvider struct {
	*httptest.Server

	mu     sync.Mutex
	tokens map[string]string // by token: its owner
	ended  map[string]bool   // revoked tokens
}

func newGuardedProvider(t *testing.T, issuer string) *guardedProvider {
	t.Helper()
	p := &guardedProvider{tokens: map[string]string{}}
	set := auth.Default()
	set.JWT = &auth.JWT{Issuer: issuer, Audience: []string{"https://models.example"}}
	guard, err := auth.New(auth.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := r.Header.Get("Authorization")
		who, v := guard.Authenticate(r)
		if v.Kind != access.Allowed || p.isRevoked(shown) {
			http.Error(w, `{"error":{"message":"who are you"}}`, http.StatusUnauthorized)
			return
		}
		p.mu.Lock()
		p.tokens[shown] = who.Subject
		p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}`))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *guardedProvider) isRevoked(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[token]
}

// revoke rejects all tokens seen so far.
func (p *guardedProvider) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = map[string]bool{}
	for token := range p.tokens {
		p.ended[token] = true
	}
}

func (p *guardedProvider) seen() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.tokens)
}

// A provider gets a token that a real identity provider issues to secateur itself, whatever the
// client has sent. One token serves many requests. A wrong secret is reported but not shown.
func TestProviderWithClientCredentials(t *testing.T) {
	idp := startIdentityProvider(t, "https://models.example")
	provider := newGuardedProvider(t, idp.issuer)
	row := func(name, secret string) string {
		return "[providers." + name + "]\nbase_url = \"" + provider.URL + "/v1\"\n[providers." + name + ".oauth]\ntoken_url = \"" + idp.issuer +
			"/token\"\nclient_id = \"robot\"\nclient_secret = \"" + secret + "\"\nscope = \"mcp\"\n"
	}
	p := start(t, "[store]\nurl = \"memory:\"\n"+row("corp", "robot-secret-of-the-test")+row("wrong", "canary-of-a-wrong-secret"))
	ask := func(model string) answer {
		return p.as(t, "the-clients-own-key", "/v1/chat/completions", `{"model":"`+model+`","messages":[{"role":"user","content":"hello"}]}`)
	}
	eventually(t, 2*time.Minute, "the provider takes the token", func() bool { return ask("corp/m").status == http.StatusOK })
	for range 5 {
		if a := ask("corp/m"); a.status != http.StatusOK || !strings.Contains(a.body, "fine") {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	seen := provider.seen()
	if len(seen) != 1 {
		t.Errorf("%d tokens for six requests, want one", len(seen))
	}
	for token, who := range seen {
		if who != "robot" || strings.Contains(token, "the-clients-own-key") {
			t.Errorf("the token is %s's", who)
		}
	}
	provider.revoke()
	if a := ask("corp/m"); a.status != http.StatusUnauthorized {
		t.Errorf("with a token that the provider takes no more: %d %s", a.status, a.body)
	}
	if a := ask("corp/m"); a.status != http.StatusOK || len(provider.seen()) != 2 {
		t.Errorf("the request after that: %d %s, with %d tokens so far; want a new one", a.status, a.body, len(provider.seen()))
	}
	refused := ask("wrong/m")
	if refused.status < 500 || !strings.Contains(refused.body, "invalid_client") || strings.Contains(refused.body, "canary") {
		t.Errorf("with a wrong secret: %d %s", refused.status, refused.body)
	}
}
