package app

import (
	"net/http"
	"strings"
	"testing"

	"secateur/internal/config"
)

// With [auth.jwt] the 401 of the MCP door names the metadata of what was asked for (RFC 9728), also
// for a request without any token.
func TestMCPDoorNamesItsMetadata(t *testing.T) {
	cfg, mistakes := config.Load("c.toml", []byte(`
auth.public_url = "https://tools.example"
store.url = "memory:"
[auth.jwt]
issuer = "https://id.example"
[[servers]]
id = "demo"
builtin = "demo"
`), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h := servedBy(t, a)
	for path, want := range map[string]string{
		"/mcp":      `Bearer realm="secateur", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`,
		"/mcp/demo": `Bearer realm="secateur", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp/demo"`,
	} {
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		} {
			got := serve(h, hung{http.MethodPost, path, ""}, strings.NewReader(body))
			if got.Code != http.StatusUnauthorized || got.Header().Get("WWW-Authenticate") != want {
				t.Errorf("%s: %d, WWW-Authenticate: %s", path, got.Code, got.Header().Get("WWW-Authenticate"))
			}
		}
	}
}
