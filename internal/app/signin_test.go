package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"secateur/internal/access/oauth"
	"secateur/internal/ops/admin"
)

// authorization is an authorization server that registers every client and gives each a token.
func authorization(t *testing.T) *httptest.Server {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			say(map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "registration_endpoint": s.URL + "/register"})
		case "/register":
			say(map[string]any{"client_id": "c"})
		case "/token":
			say(map[string]any{"access_token": "opaque", "token_type": "Bearer"})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// redirect returns the redirect address of a sign-in, with a code.
func redirect(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("redirect_uri") + "?code=c&state=" + url.QueryEscape(u.Query().Get("state"))
}

// visit opens an address as a browser would, and returns the status; 0: no answer.
func visit(t *testing.T, address string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// One sign-in per server is pending. A new one replaces it, and a canceled one is over.
func TestSignIns(t *testing.T) {
	server := authorization(t)
	var s signIns
	kept := make(chan oauth.Login, 1)
	begin := func() string {
		t.Helper()
		address, err := s.begin(t.Context(), oauth.SignIn{Server: "vault", Resource: server.URL + "/mcp", HTTP: server.Client()}, func(l oauth.Login) error { kept <- l; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	if got := s.state("vault"); got.State != admin.SignInNone {
		t.Errorf("at first: %+v", got)
	}
	first := begin()
	second := begin()
	if got := s.state("vault"); got.State != admin.SignInWaiting || got.URL != second || first == second {
		t.Errorf("under way: %+v", got)
	}
	if status := visit(t, strings.Replace(redirect(t, second), "state=", "state=x", 1)); status != http.StatusNotFound {
		t.Errorf("a redirect with another state: %d", status)
	}
	if status := visit(t, redirect(t, second)); status != http.StatusOK {
		t.Errorf("the redirect: %d", status)
	}
	if login := <-kept; login.AccessToken != "opaque" || login.Server != "vault" {
		t.Errorf("kept: %+v", login)
	}
	third := begin()
	s.giveUp("vault")
	if got := s.state("vault"); got.State != admin.SignInNone {
		t.Errorf("given up: %+v", got)
	}
	fourth := begin()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{first, third, fourth} {
		if status := visit(t, redirect(t, address)); status != 0 {
			t.Errorf("a sign-in that is over answers %d", status)
		}
	}
	if len(kept) > 0 {
		t.Error("one that is over was kept")
	}
	server.Close()
	if _, err := s.begin(context.Background(), oauth.SignIn{Server: "vault", Resource: server.URL + "/mcp", HTTP: server.Client()}, nil); err == nil || s.state("vault").State != admin.SignInFailed {
		t.Errorf("nobody to sign in with: %v, %+v", err, s.state("vault"))
	}
}
