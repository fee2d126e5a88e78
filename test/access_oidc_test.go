package test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// identityProvider is oidc-provider from npm.
type identityProvider struct {
	issuer string
	in     io.Writer
	out    *bufio.Scanner
}

func startIdentityProvider(t *testing.T, audience string, env ...string) *identityProvider {
	t.Helper()
	npmFile(t, "oidc-provider", "package.json")
	script, err := filepath.Abs("npm/oidc-provider.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(newNode(t), script, audience)
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // its end
		_ = cmd.Wait()
	})
	idp := &identityProvider{in: in, out: bufio.NewScanner(out)}
	for idp.out.Scan() {
		if line := idp.out.Text(); strings.HasPrefix(line, "http://") {
			idp.issuer = line
			return idp
		}
	}
	t.Fatal("the identity provider did not start")
	return nil
}

func (idp *identityProvider) rotate(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(idp.in, "rotate\n"); err != nil {
		t.Fatal(err)
	}
	for idp.out.Scan() {
		if idp.out.Text() == "rotated" {
			return
		}
	}
	t.Fatal("the identity provider is gone")
}

// token gets an access token for a resource by client credentials.
func (idp *identityProvider) token(t *testing.T, resource string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"mcp"}, "resource": {resource}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, idp.issuer+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("robot", "robot-secret-of-the-test")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct {
		Token string `json:"access_token"`
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(body, &got) != nil || got.Token == "" {
		t.Fatalf("the token endpoint: %s %s", res.Status, body)
	}
	return got.Token
}

// A real identity provider: discovery, keys and their rotation, audience, tenant and roles from
// claims.
func TestIdentityProvider(t *testing.T) {
	const audience = "https://tools.example/mcp"
	idp := startIdentityProvider(t, audience)
	p := start(t, "[store]\nurl = \"memory:\"\n[auth]\npublic_url = \"https://tools.example\"\n[auth.jwt]\nissuer = \""+idp.issuer+
		"\"\ntenant_claim = \"org\"\n")
	whoami := func(token string) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/v1/whoami", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return p.do(t, req)
	}
	token := idp.token(t, audience)
	want := `{"issuer":"` + idp.issuer + `","subject":"robot","tenant":"team-a","roles":["dev","qa"]}`
	// A provider that is slow with its keys is asked again ten seconds later.
	eventually(t, 2*time.Minute, "the keys are fetched", func() bool { return whoami(token).status == http.StatusOK })
	if got := whoami(token); strings.TrimSpace(got.body) != want {
		t.Fatalf("whoami: %d %s, want %s", got.status, got.body, want)
	}
	if got := whoami(idp.token(t, "https://other.example")); got.status != http.StatusUnauthorized || !strings.Contains(got.body, `"reason":"invalid"`) {
		t.Errorf("a token for another resource: %d %s", got.status, got.body)
	}
	challenge := whoami("").header.Get("Www-Authenticate")
	if want := `Bearer realm="secateur", resource_metadata="https://tools.example/.well-known/oauth-protected-resource"`; challenge != want {
		t.Errorf("challenge %s, want %s", challenge, want)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/.well-known/oauth-protected-resource/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if a := p.do(t, req); !strings.Contains(a.body, `"resource":"https://tools.example/mcp","authorization_servers":["`+idp.issuer+`"]`) {
		t.Errorf("metadata: %d %s", a.status, a.body)
	}

	idp.rotate(t)
	fresh := idp.token(t, audience)
	eventually(t, 2*time.Minute, "the new key is fetched", func() bool { return whoami(fresh).status == http.StatusOK })
}
