package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"secateur/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const matrixConfig = `
auth_token = "${T}"
[[auth.tokens]]
name = "dev"
hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
[[auth.hmac]]
key_id = "robot"
secret = "${T}${T}"
[auth.jwt]
issuer = "${ISSUER}"
audience = ["us"]
[[auth.certificates]]
san = "spiffe://corp/*"
[mcp_pruner]
enabled = true
[store]
url = "memory:"
`

// shown is a credential of the matrix.
type shown struct {
	name string
	show func(r *http.Request, body string)
}

func header(name, field, value string) shown {
	return shown{name, func(r *http.Request, _ string) { r.Header.Set(field, value) }}
}

// credentials are all credentials, good and bad.
func credentials(t *testing.T, idp *issuer) []shown {
	t.Helper()
	nonces := 0
	sign := func(r *http.Request, key, body string) {
		nonces++
		signRequest(r, key, fmt.Sprintf("nonce-of-the-matrix-%d", nonces), body)
	}
	certificate := func(name, san string) shown {
		return shown{name, func(r *http.Request, _ string) {
			u, err := url.Parse(san)
			if err != nil {
				t.Fatal(err)
			}
			cert := &x509.Certificate{URIs: []*url.URL{u}, NotAfter: time.Now().Add(time.Hour)}
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}, VerifiedChains: [][]*x509.Certificate{{cert}}}
		}}
	}
	return []shown{
		{"none", func(*http.Request, string) {}},
		header("wrong", "Authorization", "Bearer wrong"),
		header("no jwt", "Authorization", "Bearer a.b.c"),
		header("expired jwt", "Authorization", "Bearer "+idp.token(t, -time.Hour)),
		header("bad signature", "X-Secateur-Signature", strings.Repeat("0", 64)),
		{"another key's signature", func(r *http.Request, body string) { sign(r, strings.Repeat("k", 32), body) }},
		certificate("another certificate", "spiffe://other/a"),
		header("no role", "Authorization", "Bearer test"),
		header("jwt", "Authorization", "Bearer "+idp.token(t, time.Hour)),
		{"signature", func(r *http.Request, body string) { sign(r, matrixToken+matrixToken, body) }},
		certificate("certificate", "spiffe://corp/a"),
		header("admin", "X-Secateur-Token", matrixToken),
		{"other host", func(r *http.Request, _ string) { r.Host = "evil.example" }},
		header("other page", "Origin", "https://evil.example"),
	}
}

const matrixToken = "the-shared-token-16"

// Every route × every protocol revision × every credential has one decision in testdata/matrix.txt.
// The routes come from the router, so a new door fails the test until it has decisions.
func TestEveryRouteWithEveryCredential(t *testing.T) {
	idp := newIssuer(t)
	lookup := func(name string) (string, bool) {
		return map[string]string{"T": matrixToken, "ISSUER": idp.url}[name], name == "T" || name == "ISSUER"
	}
	cfg, mistakes := config.Load("matrix.toml", []byte(matrixConfig), config.Options{Lookup: lookup})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	doors, err := a.live.Load().routes(&generation{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.closeMCP(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = a.servers.Run(ctx) })
	defer running.Wait()
	defer stop()

	callers := credentials(t, idp)
	var table strings.Builder
	for _, pattern := range slices.Sorted(slices.Values(doors.patterns)) {
		for _, method := range methodsOf(pattern) {
			for _, said := range messagesFor(method, pathOf(pattern)) {
				fmt.Fprintf(&table, "%s", strings.TrimSpace(method+" "+pathOf(pattern)+" "+said.revision))
				for _, c := range callers {
					fmt.Fprintf(&table, " | %s: %s", c.name, decision(doors, method, pathOf(pattern), said, c))
				}
				table.WriteByte('\n')
			}
		}
	}
	const golden = "testdata/matrix.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("%s differs; run with -update and review who is let in:\n%s", golden, table.String())
	}
}

// said is a message of a protocol revision.
type said struct {
	revision, body string
	header         [][2]string
}

// messagesFor returns the messages for a route: one, and for MCP routes one of every revision.
func messagesFor(method, path string) []said {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	all := []said{{body: list}}
	if method != http.MethodPost || path != "/mcp" && path != "/mcp/pruner" {
		return all
	}
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		all = append(all, said{revision: revision, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision +
			`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`})
	}
	return append(all,
		said{revision: "batch", body: "[" + list + "]", header: [][2]string{{"Mcp-Protocol-Version", "2025-03-26"}}},
		said{
			revision: "2026-07-28", header: [][2]string{{"Mcp-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}},
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		})
}

func methodsOf(pattern string) []string {
	if method, _, ok := strings.Cut(pattern, " "); ok {
		return []string{method}
	}
	return []string{http.MethodGet, http.MethodPost, http.MethodDelete}
}

func pathOf(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	return strings.NewReplacer("{server}", "pruner", "{id}", "pruner", "{name}", "note", "{$}", "").Replace(pattern)
}

// decision returns "in", or how access control refuses the caller.
func decision(h http.Handler, method, path string, m said, c shown) string {
	r := httptest.NewRequest(method, path, strings.NewReader(m.body))
	r.Host = "127.0.0.1:8000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range m.header {
		r.Header.Set(h[0], h[1])
	}
	c.show(r, m.body)
	// Canceled: only admission matters here, not the stream or the server behind it.
	gone, leave := context.WithCancel(r.Context())
	leave()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(gone))
	if w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
		return fmt.Sprint(w.Code)
	}
	return "in"
}

// issuer is an identity provider with one key.
type issuer struct {
	url string
	key *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.url, "jwks_uri": i.url + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one", Algorithm: "ES256"}}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// token returns a JWT with the given lifetime.
func (i *issuer) token(t *testing.T, life time.Duration) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, (&jose.SignerOptions{}).WithHeader("kid", "one"))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{"iss": i.url, "sub": "alice", "aud": "us", "exp": time.Now().Add(life).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
