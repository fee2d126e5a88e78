package oauth_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access/oauth"
	"secateur/internal/secret"
)

const resource = "https://tools.example/mcp"

// endpoint is an in-memory authorization server.
type endpoint struct {
	mu    sync.Mutex
	forms []url.Values
	asked atomic.Int32
	reply func(n int, form url.Values) (status int, body string)
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		return answer(200, `{"resource":"https://tools.example/mcp","authorization_servers":["https://id.example"],"scopes_supported":["mcp"]}`)
	case "/.well-known/oauth-authorization-server":
		return answer(200, `{"issuer":"https://id.example","token_endpoint":"https://id.example/token","authorization_endpoint":"https://id.example/auth"}`)
	case "/token":
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		if id, password, ok := r.BasicAuth(); ok {
			form.Set("basic", id+":"+password)
		}
		e.mu.Lock()
		e.forms = append(e.forms, form)
		e.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others run meanwhile
		}
		return answer(e.reply(int(e.asked.Add(1)), form))
	}
	return answer(404, "")
}

func credentials(e *endpoint) *oauth.Source {
	return oauth.NewSource(oauth.SourceOptions{
		Server: "s", Resource: resource, HTTP: &http.Client{Transport: e},
		Settings: oauth.Settings{Flow: oauth.FlowClientCredentials, ClientID: "robot", ClientSecret: secret.New("a secret"), Scope: "mcp"},
	})
}

func get(t *testing.T, s *oauth.Source) string {
	t.Helper()
	token, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func numbered(n int, _ url.Values) (int, string) {
	return 200, fmt.Sprintf(`{"access_token":"t%d","token_type":"Bearer","expires_in":100}`, n)
}

func TestClientCredentialsAreAskedForOnceAndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{reply: numbered}
		s := credentials(e)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if token, err := s.Token(t.Context()); err != nil || token != "t1" {
					t.Errorf("Token = %q, %v", token, err)
				}
			})
		}
		all.Wait()
		if n := e.asked.Load(); n != 1 {
			t.Errorf("asked %d times at once, want 1", n)
		}
		if f := e.forms[0]; f.Get("resource") != resource || f.Get("scope") != "mcp" || f.Get("basic") != "robot:a+secret" {
			t.Errorf("asked with %v", f)
		}
		time.Sleep(78 * time.Second)
		if get(t, s) != "t1" {
			t.Error("renewed too early")
		}
		time.Sleep(3 * time.Second)
		if get(t, s) != "t2" {
			t.Error("not renewed when a fifth of its life is left")
		}
		s.Refused("t2")
		if get(t, s) != "t3" {
			t.Error("a token that was refused is shown again")
		}
	})
}

func TestATokenServesUntilItsEndWhileTheServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{reply: numbered}
		s := credentials(e)
		get(t, s)
		e.reply = func(int, url.Values) (int, string) { return 503, "" }
		time.Sleep(90 * time.Second)
		if get(t, s) != "t1" {
			t.Error("a token that is still good is thrown away")
		}
		time.Sleep(20 * time.Second)
		if token, err := s.Token(t.Context()); err == nil || strings.Contains(err.Error(), "a secret") {
			t.Errorf("after its end: %q, %v", token, err)
		}
	})
}

func jwt(aud string) string {
	claims, _ := json.Marshal(map[string]string{"sub": "robot", "aud": aud})
	return "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".x"
}

func TestATokenForAnotherResourceIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for aud, good := range map[string]bool{resource: true, "https://tools.example": true, "https://other.example/mcp": false, "an-id": true} {
			e := &endpoint{reply: func(int, url.Values) (int, string) {
				return 200, `{"access_token":"` + jwt(aud) + `","expires_in":100}`
			}}
			if _, err := credentials(e).Token(t.Context()); (err == nil) != good {
				t.Errorf("aud %s: %v", aud, err)
			}
		}
	})
}

func signedIn(t *testing.T, dir string, edit func(*oauth.Login)) (oauth.Logins, func(e *endpoint) *oauth.Source) {
	t.Helper()
	logins := oauth.Logins{Dir: dir}
	l := oauth.Login{
		Server: "s", Resource: resource, Issuer: "https://id.example", TokenEndpoint: "https://id.example/token", Client: oauth.Client{ID: "c"},
		AccessToken: "a0", RefreshToken: "r0", IssuedAt: time.Now(), ExpiresAt: time.Now().Add(100 * time.Second),
	}
	if edit != nil {
		edit(&l)
	}
	if err := logins.Write(l); err != nil {
		t.Fatal(err)
	}
	return logins, func(e *endpoint) *oauth.Source {
		return oauth.NewSource(oauth.SourceOptions{Server: "s", Resource: resource, Logins: logins, HTTP: &http.Client{Transport: e}})
	}
}

func TestASignInIsRenewedAndItsRefreshTokenRotates(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		logins, source := signedIn(t, dir, nil)
		e := &endpoint{}
		e.reply = func(n int, form url.Values) (int, string) {
			if form.Get("refresh_token") != fmt.Sprintf("r%d", n-1) {
				return 400, `{"error":"invalid_grant"}`
			}
			return 200, fmt.Sprintf(`{"access_token":"a%d","refresh_token":"r%d","expires_in":100}`, n, n)
		}
		s := source(e)
		for n := range 3 {
			if got := get(t, s); got != fmt.Sprintf("a%d", n) {
				t.Fatalf("token %d: %s", n, got)
			}
			time.Sleep(85 * time.Second)
		}
		if l, err := logins.Read("s"); err != nil || l.RefreshToken != "r2" || l.AccessToken != "a2" {
			t.Errorf("kept: %+v, %v", l, err)
		}
		if f := e.forms[0]; f.Get("resource") != resource || f.Get("client_id") != "c" {
			t.Errorf("asked with %v", f)
		}
		file := filepath.Join(dir, "s.json")
		written, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		other := source(e) // another process, which reads what the first has written
		if got := get(t, other); got != "a3" {
			t.Errorf("another process: %s", got)
		}
		// file timestamps are coarse: the file looks unchanged
		if err := os.Chtimes(file, time.Time{}, written.ModTime()); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s); got != "a3" { // the other process has used its refresh token
			t.Errorf("the first, after the other has renewed: %s", got)
		}
	})
	info, err := os.Stat(filepath.Join(dir, "s.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want 0600", info, err)
	}
}

func TestASignInThatHasEndedSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*oauth.Login)
		reply func(int, url.Values) (int, string)
	}{
		"no refresh token":   {func(l *oauth.Login) { l.RefreshToken, l.ExpiresAt = "", time.Now().Add(-time.Second) }, nil},
		"a refused one":      {func(l *oauth.Login) { l.ExpiresAt = time.Now().Add(-time.Second) }, func(int, url.Values) (int, string) { return 400, `{"error":"invalid_grant"}` }},
		"of another address": {func(l *oauth.Login) { l.Resource = "https://other.example/mcp" }, nil},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			_, source := signedIn(t, dir, c.edit)
			if token, err := source(&endpoint{reply: c.reply}).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "a sign-in is required") {
				t.Errorf("%s: %q, %v", name, token, err)
			}
		})
	}
}

func TestNobodySignedIn(t *testing.T) {
	s := oauth.NewSource(oauth.SourceOptions{Server: "s", Resource: resource, Logins: oauth.Logins{Dir: t.TempDir()}})
	if token, err := s.Token(t.Context()); token != "" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}

func TestMetadataOfAnotherResourceIsRefused(t *testing.T) {
	for named, good := range map[string]bool{
		"https://tools.example/mcp": true, "https://tools.example": true, "https://tools.example/": true, "https://tools.example/mc": false, "https://tools.example/mcp/x": false,
		"https://evil.example/mcp": false, "http://tools.example/mcp": false,
	} {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body := `{"resource":"` + named + `","authorization_servers":["https://id.example"]}`
			if r.URL.Host == "id.example" {
				body = `{"issuer":"https://id.example","token_endpoint":"https://id.example/token"}`
			}
			return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}
		if _, _, err := oauth.Discover(t.Context(), client, resource, ""); (err == nil) != good {
			t.Errorf("%s: %v", named, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
