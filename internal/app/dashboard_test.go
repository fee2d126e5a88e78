package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/ops/ui"
)

// browse sends a request as a browser would. Headers come in pairs.
func browse(h http.Handler, method, path, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://127.0.0.1:8000"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// signIn signs in and returns the Cookie header and the key that the page keeps.
func signIn(t *testing.T, h http.Handler, token string) (cookie, key string) {
	t.Helper()
	res := browse(h, "POST", "/ui/session", `{"token":"`+token+`"}`, "Origin", "http://127.0.0.1:8000", "Sec-Fetch-Site", "same-origin")
	var said struct {
		Key string `json:"key"`
	}
	if err := json.NewDecoder(res.Body).Decode(&said); res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 || err != nil {
		t.Fatalf("sign-in: %d, cookies %v, %v", res.StatusCode, res.Cookies(), err)
	}
	c := res.Cookies()[0]
	return c.Name + "=" + c.Value, said.Key
}

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// The cookie opens the control plane to our own pages, and nothing else to anyone.
func TestCookieIsForTheControlPlaneAlone(t *testing.T) {
	h := http.Handler(cors{[]string{"http://127.0.0.1:3000"}, builtWith(t, fmt.Sprintf("auth_token = %q\nallowed_origins = [\"http://127.0.0.1:3000\"]\n", tokenOfTest))})
	cookie, key := signIn(t, h, tokenOfTest)
	const own, other, evil = "http://127.0.0.1:8000", "http://127.0.0.1:3000", "https://evil.example"
	for _, c := range []struct {
		rule, method, path, site, origin string
		status                           int
	}{
		{"a page reads", "GET", "/api/v1/status", "same-origin", "", 200},
		{"a person looks", "GET", "/api/v1/status", "none", "", 200},
		{"a page acts", "POST", "/api/v1/servers/demo/refresh", "same-origin", own, 200},
		{"a page acts, in a browser that tells its origin alone", "POST", "/api/v1/servers/demo/refresh", "", own, 200},
		{"what acts says where it comes from", "POST", "/api/v1/servers/demo/refresh", "", "", 403},
		{"another site acts", "POST", "/api/v1/servers/demo/refresh", "cross-site", evil, 403},
		{"another site reads", "GET", "/api/v1/status", "cross-site", "", 403},
		{"another port of this machine acts", "POST", "/api/v1/servers/demo/refresh", "same-site", other, 403},
		{"another port of this machine reads", "GET", "/api/v1/status", "same-site", other, 403},
		{"one that may call acts with a cookie", "POST", "/api/v1/servers/demo/refresh", "", other, 403},
		{"a page without an origin", "POST", "/api/v1/servers/demo/refresh", "", "null", 403},
		{"the aggregate", "POST", "/mcp", "same-origin", own, 401},
		{"models", "GET", "/v1/models", "same-origin", "", 401},
		{"metrics", "GET", "/metrics", "same-origin", "", 401},
		{"the gateway", "POST", "/api/mcp-gateway/demo/rpc", "same-origin", own, 401},
	} {
		if res := browse(h, c.method, c.path, "", "Cookie", cookie, ui.KeyHeader, key, "Sec-Fetch-Site", c.site, "Origin", c.origin); res.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.rule, res.StatusCode, c.status)
		}
		// Another program on this host gets the cookie alone.
		if res := browse(h, c.method, c.path, "", "Cookie", cookie, "Sec-Fetch-Site", c.site, "Origin", c.origin); res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
			t.Errorf("%s, without the page's half: %d, want it refused", c.rule, res.StatusCode)
		}
	}
	if res := browse(h, "GET", "/api/v1/status", "", "Cookie", cookie, ui.KeyHeader, key, "Authorization", "Bearer wrong"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token beside a good cookie: %d, want 401", res.StatusCode)
	}
	for _, origin := range []string{other, evil} {
		for _, path := range []string{"/ui/", "/ui/session"} {
			res := browse(h, "POST", path, `{"token":"`+tokenOfTest+`"}`, "Origin", origin)
			if res.StatusCode == http.StatusOK || len(res.Cookies()) > 0 || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("POST %s from %s: %d, cookies %v", path, origin, res.StatusCode, res.Cookies())
			}
		}
	}
}

// A token that is expired, invalid or without the role admin cannot sign in.
func TestSignInNeedsTheRole(t *testing.T) {
	h := builtWith(t, fmt.Sprintf(`
[[auth.tokens]]
name = "boss"
hash = %q
roles = ["admin"]
[[auth.tokens]]
name = "dev"
hash = %q
roles = ["dev"]
[[auth.tokens]]
name = "old"
hash = %q
roles = ["admin"]
expires = "2020-01-01T00:00:00Z"
`, hashed("the-boss"), hashed("the-dev"), hashed("the-old")))
	for token, want := range map[string]int{"the-boss": 200, "the-dev": 403, "the-old": 401, "nobody": 401} {
		if res := browse(h, "POST", "/ui/session", `{"token":"`+token+`"}`); res.StatusCode != want || (len(res.Cookies()) > 0) != (want == 200) {
			t.Errorf("%s: %d, cookies %v, want %d", token, res.StatusCode, res.Cookies(), want)
		}
	}
	if res := browse(h, "GET", "/api/v1/status", "", "Cookie", "secateur-8000=dGhlLWJvc3M"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token in the cookie: %d, want 401", res.StatusCode)
	}
}

// A session ends with its sign-out and with its token; its open streams end then.
func TestSessionEndsWithSignOut(t *testing.T) {
	h := builtWith(t, fmt.Sprintf("auth_token = %q\n", tokenOfTest))
	cookie, key := signIn(t, h, tokenOfTest)
	other, otherKey := signIn(t, h, tokenOfTest)
	status := func(cookie, key string) int {
		return browse(h, "GET", "/api/v1/status", "", "Cookie", cookie, ui.KeyHeader, key, "Sec-Fetch-Site", "same-origin").StatusCode
	}
	if got := status(cookie, key); got != http.StatusOK {
		t.Fatalf("signed in: %d", got)
	}
	if got := status(cookie, otherKey); got != http.StatusUnauthorized {
		t.Errorf("halves of two sessions: %d, want 401", got)
	}
	streams := make(chan struct{})
	go func() {
		defer close(streams)
		browse(h, "GET", "/api/v1/events", "", "Cookie", cookie, ui.KeyHeader, key, "Sec-Fetch-Site", "same-origin")
	}()
	if res := browse(h, "DELETE", "/ui/session", "", ui.KeyHeader, key, "Origin", "http://127.0.0.1:8000"); res.StatusCode != http.StatusNoContent {
		t.Errorf("sign-out: %d", res.StatusCode)
	}
	<-streams // whether the stream began before or after
	if got := status(cookie, key); got != http.StatusUnauthorized {
		t.Errorf("after the sign-out: %d, want 401", got)
	}
	if got := status(other, otherKey); got != http.StatusOK {
		t.Errorf("another session: %d, want it to go on", got)
	}
}

// If a proxy terminates TLS for the dashboard, the cookie is not sent over plain connections.
func TestCookieIsSecureBehindAProxy(t *testing.T) {
	for address, want := range map[string]bool{"https://tools.example": true, "http://tools.example": false} {
		h := builtWith(t, fmt.Sprintf("auth_token = %q\n[auth]\npublic_url = %q\n", tokenOfTest, address))
		res := browse(h, "POST", "/ui/session", `{"token":"`+tokenOfTest+`"}`)
		if c := res.Cookies(); len(c) != 1 || c[0].Secure != want {
			t.Errorf("%s: %v, want Secure %t", address, c, want)
		}
	}
}

// Without configured credentials, our own pages need no sign-in, and those of other origins get
// nothing.
func TestDashboardWithoutCredentials(t *testing.T) {
	h := builtWith(t, "allowed_origins = [\"http://127.0.0.1:3000\"]\n")
	for _, c := range []struct {
		path, origin string
		status       int
	}{
		{"/api/v1/status", "", 200},
		{"/api/v1/status", "http://127.0.0.1:8000", 200},
		{"/api/v1/status", "http://127.0.0.1:3000", 403},
		{"/ui/", "", 200},
		{"/ui/servers/demo", "", 200},
		{"/", "", 302},
		{"/ui", "", 307},
	} {
		if res := browse(h, "GET", c.path, "", "Origin", c.origin); res.StatusCode != c.status {
			t.Errorf("%s from %q: %d, want %d", c.path, c.origin, res.StatusCode, c.status)
		}
	}
	if at := browse(h, "GET", "/", "").Header.Get("Location"); at != "/ui/" {
		t.Errorf("/ leads to %q", at)
	}
}
