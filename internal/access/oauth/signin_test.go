package oauth_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"secateur/internal/access/oauth"
)

// askingServer is a server with its authorization server. It publishes its origin as its resource.
type askingServer struct {
	challenge string
	form      url.Values // of the token request
}

func (a *askingServer) RoundTrip(r *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}}
	body := ""
	switch r.URL.Path {
	case "/mcp":
		res.StatusCode = http.StatusUnauthorized
		res.Header.Set("WWW-Authenticate", a.challenge)
	case "/.well-known/oauth-protected-resource/mcp":
		body = `{"resource":"https://tools.example/","authorization_servers":["https://id.example"],"scopes_supported":["everything"]}`
	case "/.well-known/oauth-authorization-server":
		body = `{"issuer":"https://id.example","token_endpoint":"https://id.example/token","authorization_endpoint":"https://id.example/auth"}`
	case "/token":
		text, _ := io.ReadAll(r.Body)
		a.form, _ = url.ParseQuery(string(text))
		body = `{"access_token":"t","token_type":"Bearer"}`
	default:
		res.StatusCode = http.StatusNotFound
	}
	res.Body = io.NopCloser(strings.NewReader(body))
	return res, nil
}

// A sign-in asks for the configured scope, else for the one of the challenge, else for the
// published ones, and for those that a call lacked. It names the resource as the metadata does.
func TestSignInAsksForTheScopeAndResourceThatTheServerNames(t *testing.T) {
	for _, c := range []struct{ rule, challenge, configured, lacked, want string }{
		{"the challenge's scope", `Bearer realm="x", scope="files:read files:list"`, "", "", "files:read files:list"},
		{"the configured scope first", `Bearer scope="files:read"`, "own", "", "own"},
		{"the published scopes without a challenge's", `Bearer realm="x", xscope="no"`, "", "", "everything"},
		{"with the scopes that a call lacked", `Bearer scope="files:read"`, "", "files:read files:write", "files:read files:write"},
	} {
		server := &askingServer{challenge: c.challenge}
		var asked url.Values
		login, err := oauth.SignIn{
			Server: "s", Resource: resource, HTTP: &http.Client{Transport: server}, Scope: c.lacked,
			Settings: oauth.Settings{ClientID: "me", Scope: c.configured},
			Show: func(address string) {
				at, err := url.Parse(address)
				if err != nil {
					t.Error(err)
					return
				}
				asked = at.Query()
				go func() { // the person's browser
					res, err := http.Get(asked.Get("redirect_uri") + "?code=c&state=" + url.QueryEscape(asked.Get("state")))
					if err != nil {
						t.Error(err)
						return
					}
					_ = res.Body.Close()
				}()
			},
		}.Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if asked.Get("scope") != c.want || login.Scope != c.want {
			t.Errorf("%s: asked for %q, kept %q, want %q", c.rule, asked.Get("scope"), login.Scope, c.want)
		}
		for where, got := range map[string]string{"the address": asked.Get("resource"), "the token request": server.form.Get("resource"), "the sign-in": login.Resource} {
			if got != "https://tools.example/" {
				t.Errorf("%s: %s names the resource %q", c.rule, where, got)
			}
		}
	}
}

func TestOnlyPlainScopesAreTakenFromAChallenge(t *testing.T) {
	for challenge, want := range map[string]string{
		`Bearer error="insufficient_scope", scope="a b"`: "a b",
		`Bearer scope="'; rm -rf ~; '"`:                  "",
		`Bearer scope="$(id)"`:                           "",
		`Bearer`:                                         "",
	} {
		if got := oauth.ChallengeScope(challenge); got != want {
			t.Errorf("%s: %q, want %q", challenge, got, want)
		}
	}
}
