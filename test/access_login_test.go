package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/config"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protectedServer is an MCP server of the official SDK that accepts tokens of an identity provider,
// and says so (RFC 9728).
type protectedServer struct {
	*httptest.Server

	mu       sync.Mutex
	subjects map[string]bool // who has called
}

func newProtectedServer(t *testing.T, issuer, claimed string) *protectedServer {
	t.Helper()
	p := &protectedServer{subjects: map[string]bool{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "vault", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "open"}, func(_ context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "it is open"}}}, nil, nil
	})
	var guard *auth.Authenticator
	door := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, auth.MetadataPath) {
			guard.ServeMetadata(w, r)
			return
		}
		who, v := guard.Authenticate(r)
		if v.Kind != access.Allowed {
			w.Header().Set("WWW-Authenticate", v.Header())
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		p.mu.Lock()
		p.subjects[who.Subject] = true
		p.mu.Unlock()
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		p.Close()
	})
	set := auth.Default()
	set.PublicURL, set.JWT = p.URL, &auth.JWT{Issuer: issuer}
	if claimed != "" {
		set.PublicURL = claimed
	}
	var err error
	if guard, err = auth.New(auth.Options{Settings: set}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *protectedServer) saw(subject string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.subjects[subject]
}

var formAction = regexp.MustCompile(`<form[^>]*action="([^"]+)"`)

// browse signs a person in at an address like a browser: it fills in forms and follows redirects,
// the last to the waiting program.
func browse(t *testing.T, address, name string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	read := func(res *http.Response, err error) (string, *url.URL) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body), res.Request.URL
	}
	page, at := read(client.Get(address))
	for range 5 {
		form := formAction.FindStringSubmatch(page)
		if form == nil {
			return page
		}
		to, err := at.Parse(form[1])
		if err != nil {
			t.Fatal(err)
		}
		prompt := "consent"
		if strings.Contains(page, `name="login"`) {
			prompt = "login"
		}
		page, at = read(client.PostForm(to.String(), url.Values{"prompt": {prompt}, "login": {name}, "password": {"any"}}))
	}
	t.Fatalf("the forms do not end: %s", page)
	return ""
}

// A person signs in with a remote server through a real identity provider: discovery, dynamic
// registration, code with PKCE, refresh with rotation, and sign-out.
func TestSignInWithARemoteServer(t *testing.T) {
	idp := startIdentityProvider(t, "https://unused.example")
	vault := newProtectedServer(t, idp.issuer, "")
	state := t.TempDir()
	text := `listen = "127.0.0.1:0"
healthcheck_interval = 0
[auth]
private_networks = ["127.0.0.0/8"]
[[servers]]
id = "vault"
url = "` + vault.URL + `/mcp"
[servers.oauth]
scope = "mcp"
[[servers]]
id = "robot"
url = "` + vault.URL + `/mcp"
[servers.oauth]
flow = "client_credentials"
client_id = "robot"
client_secret = "${ROBOT}"
scope = "mcp"
[store]
url = "memory:"
`
	file := configFile(t, text)
	cfg, mistakes := config.Load("login.toml", []byte(text), config.Options{Lookup: func(name string) (string, bool) { return "robot-secret-of-the-test", name == "ROBOT" }})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := startIn(t, cfg, filepath.Join(state, "secateur"))
	call := func(server string) string {
		return p.as(t, "", "/api/mcp-gateway/"+server+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open","arguments":{}}}`).body
	}
	eventually(t, time.Minute, "client credentials", func() bool { return strings.Contains(call("robot"), "it is open") })
	if !vault.saw("robot") {
		t.Error("the robot's token was not its own")
	}
	eventually(t, time.Minute, "the server asks for a sign-in", func() bool {
		body := call("vault")
		return strings.Contains(body, `"code":-32017`) && strings.Contains(body, `"hint":"secateur login vault"`)
	})

	loginAsAlice(t, file, "XDG_STATE_HOME="+state, "ROBOT=robot-secret-of-the-test")
	eventually(t, time.Minute, "the daemon notices", func() bool { return strings.Contains(call("vault"), "it is open") })
	if !vault.saw("alice") {
		t.Error("somebody else was signed in")
	}
	kept := filepath.Join(state, "secateur", "logins", "vault.json")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want 0600", info, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/v1/logins", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.do(t, req); !strings.Contains(got.body, `"server":"vault","issuer":"`+idp.issuer+`","subject":"alice","expires_at":"`) || !strings.Contains(got.body, `"refreshable":true`) ||
		strings.Contains(got.body, "token") {
		t.Errorf("logins: %s", got.body)
	}

	before := refreshToken(t, kept, true)
	eventually(t, time.Minute, "the token is renewed", func() bool {
		return strings.Contains(call("vault"), "it is open") && refreshToken(t, kept, false) != before
	})

	if got := runSecateur(t, state, "logout", "vault"); got != "signed out of vault\n" {
		t.Errorf("logout: %s", got)
	}
	eventually(t, time.Minute, "the daemon forgets the token", func() bool { return strings.Contains(call("vault"), `"code":-32017`) })

	control := func(method, server string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, p.url+"/api/v1/servers/"+server+"/login", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		got := p.do(t, req)
		return got.status, got.body
	}
	if status, body := control("POST", "robot"); status != http.StatusConflict {
		t.Errorf("sign-in with a server that has client credentials: %d %s", status, body)
	}
	_, body := control("POST", "vault")
	var begun struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(body), &begun); err != nil || begun.URL == "" {
		t.Fatalf("%v: %s", err, body)
	}
	if _, body := control("GET", "vault"); !strings.Contains(body, `"state":"waiting"`) {
		t.Errorf("before the sign-in: %s", body)
	}
	if page := browse(t, begun.URL, "bob"); !strings.Contains(page, "Signed in") {
		t.Fatalf("the last page: %s", page)
	}
	eventually(t, time.Minute, "the daemon uses the sign-in that it began", func() bool { return strings.Contains(call("vault"), "it is open") })
	if _, body := control("GET", "vault"); !vault.saw("bob") || !strings.Contains(body, `"state":"done"`) {
		t.Errorf("after the sign-in: %s", body)
	}
	if status, body := control("DELETE", "vault"); status != http.StatusNoContent {
		t.Errorf("sign-out: %d %s", status, body)
	}
	eventually(t, time.Minute, "the daemon forgets that token too", func() bool { return strings.Contains(call("vault"), `"code":-32017`) })
}

// refreshToken reads the stored one, and can let the access token beside it expire.
func refreshToken(t *testing.T, file string, end bool) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var login map[string]any
	if err := json.Unmarshal(data, &login); err != nil {
		t.Fatal(err)
	}
	if end {
		login["expires_at"] = time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
		data, _ = json.Marshal(login)
		replaceFile(t, file, string(data))
	}
	text, _ := login["refresh_token"].(string)
	return text
}

// Metadata of another resource ends a sign-in before anything is requested.
func TestSignInStopsAtMetadataOfAnotherResource(t *testing.T) {
	vault := newProtectedServer(t, "http://127.0.0.1:1", "https://other.example")
	file := configFile(t, "[[servers]]\nid = \"vault\"\nurl = \""+vault.URL+"/mcp\"\n")
	cmd := exec.CommandContext(t.Context(), secateur(t), "login", "vault", "--no-browser", "--config", file)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "its metadata is for another resource: https://other.example") {
		t.Errorf("%v %s", err, out)
	}
}

// A client identified by the address of its metadata signs in with the document from the
// documentation.
func TestSignInWithAClientsDocument(t *testing.T) {
	doc, err := os.ReadFile("../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "```json\n")
	document, _, ended := strings.Cut(rest, "```")
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(document), &client); err != nil || !found || !ended {
		t.Fatalf("the document: %v in %s", err, document)
	}
	idp := startIdentityProvider(t, "https://unused.example", "CLIENT_DOCUMENT="+document)
	vault, state := newProtectedServer(t, idp.issuer, ""), t.TempDir()
	file := configFile(t, fmt.Sprintf(`[auth]
private_networks = ["127.0.0.0/8"]
[[servers]]
id = "vault"
url = %q
[servers.oauth]
client_id = %q
scope = "mcp"
`, vault.URL+"/mcp", client.ID))
	loginAsAlice(t, file, "XDG_STATE_HOME="+state)
	kept, err := os.ReadFile(filepath.Join(state, "secateur", "logins", "vault.json"))
	if err != nil || !strings.Contains(string(kept), client.ID) || !strings.Contains(string(kept), `"subject": "alice"`) {
		t.Errorf("%v: %.300s", err, kept)
	}
}

// loginAsAlice signs in with the server vault at a terminal, as alice in her browser.
func loginAsAlice(t *testing.T, file string, env ...string) {
	t.Helper()
	login := exec.CommandContext(t.Context(), secateur(t), "login", "vault", "--no-browser", "--config", file)
	login.Env = append(os.Environ(), env...)
	login.Stderr = t.Output()
	out, err := login.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("login prints no address")
	}
	if page := browse(t, lines.Text(), "alice"); !strings.Contains(page, "Signed in") {
		t.Fatalf("the last page: %s", page)
	}
	if err := login.Wait(); err != nil {
		t.Fatal(err)
	}
}
