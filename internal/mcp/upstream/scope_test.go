package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"secateur/internal/secret"
)

// heldToken is the token of a sign-in.
type heldToken string

func (h heldToken) Token(context.Context) (string, error) { return string(h), nil }
func (heldToken) Refused(string)                          {}

// whyDown returns why a server that answers like this does not start.
func whyDown(t *testing.T, change func(*Options), answer http.HandlerFunc) *CallError {
	t.Helper()
	web := httptest.NewServer(answer)
	defer web.Close()
	opt := Options{Settings: Settings{ID: "s", URL: web.URL, StartupTimeout: time.Minute}, Capabilities: []byte(`{}`), Tokens: heldToken("t")}
	change(&opt)
	u, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = u.Run(ctx)
	}()
	defer func() { cancel(); <-ended }()
	_, err = u.Peer(ctx)
	failed, ok := errors.AsType[*CallError](err)
	if !ok {
		t.Fatalf("it starts: %v", err)
	}
	return failed
}

// A token whose scope does not suffice leads to a sign-in with that scope, or says where to put it.
func TestMissingScopeIsNamed(t *testing.T) {
	for _, c := range []struct {
		rule, challenge string
		change          func(*Options)
		kind            Kind
		hint            string
	}{
		{"a sign-in", `Bearer error="insufficient_scope", scope="files:write"`, func(*Options) {}, LoginRequired, "secateur login s --scope 'files:write'"},
		{"a scope that a shell would run", `Bearer error="insufficient_scope", scope="'$(id)'"`, func(*Options) {}, LoginRequired, "secateur login s"},
		{"client credentials", `Bearer error="insufficient_scope", scope="a"`, func(o *Options) { o.OwnToken = true }, Invalid, "add it to oauth.scope of the server"},
		{
			"a token of the configuration", `Bearer error="insufficient_scope", scope="a"`,
			func(o *Options) { o.Settings.Headers = map[string]secret.Text{"Authorization": secret.New("Bearer x")} }, Invalid, "put a token with that scope into the server's headers",
		},
		{"another 403", `Bearer`, func(o *Options) { o.OwnToken = true }, Invalid, `set what it asks for in the server's headers, for example headers = { Authorization = "Bearer ${TOKEN}" }`},
	} {
		failed := whyDown(t, c.change, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", c.challenge)
			w.WriteHeader(http.StatusForbidden)
		})
		if failed.Kind != c.kind || failed.Hint != c.hint {
			t.Errorf("%s: %s %q, hint %q, want %s, %q", c.rule, failed.Kind, failed.Message, failed.Hint, c.kind, c.hint)
		}
	}
}

// A modern server that refuses the caller is not called legacy: its refusal is reported, not the
// failed initialize.
func TestForbiddenDiscoverIsReported(t *testing.T) {
	failed := whyDown(t, func(*Options) {}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "server/discover") {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="mcp"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	if failed.HTTPStatus != http.StatusForbidden || !strings.Contains(failed.Message, "lacks the scope mcp") {
		t.Errorf("%d %s", failed.HTTPStatus, failed.Message)
	}
}
