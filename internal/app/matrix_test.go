package app

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

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
[mcp_pruner]
enabled = true
[store]
url = "memory:"
`

// Every route × every credential has one decision, in testdata/matrix.txt. The routes are those that are hung, so that a new door fails
// until somebody has decided about it.
func TestEveryRouteWithEveryCredential(t *testing.T) {
	lookup := func(name string) (string, bool) { return "the-shared-token-16", name == "T" }
	cfg, mistakes := config.Load("matrix.toml", []byte(matrixConfig), config.Options{Lookup: lookup})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	doors, err := a.live.Load().routes()
	if err != nil {
		t.Fatal(err)
	}
	defer a.closeMCP(t.Context())

	credentials := []struct {
		name   string
		header [2]string
	}{
		{"none", [2]string{}},
		{"wrong", [2]string{"Authorization", "Bearer wrong"}},
		{"expired-like jwt", [2]string{"Authorization", "Bearer a.b.c"}},
		{"bad signature", [2]string{"X-Secateur-Signature", strings.Repeat("0", 64)}},
		{"no role", [2]string{"Authorization", "Bearer test"}},
		{"admin", [2]string{"X-Secateur-Token", "the-shared-token-16"}},
		{"other host", [2]string{"Host", "evil.example"}},
		{"other page", [2]string{"Origin", "https://evil.example"}},
	}
	var table strings.Builder
	for _, pattern := range slices.Sorted(slices.Values(doors.patterns)) {
		for _, method := range methodsOf(pattern) {
			fmt.Fprintf(&table, "%s", method+" "+pathOf(pattern))
			for _, c := range credentials {
				fmt.Fprintf(&table, " | %s: %s", c.name, decision(doors, method, pathOf(pattern), c.header))
			}
			table.WriteByte('\n')
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
	return strings.NewReplacer("{server}", "pruner", "{id}", "pruner", "{$}", "").Replace(pattern)
}

// decision is in, or how a caller is turned away by access control.
func decision(h http.Handler, method, path string, header [2]string) string {
	r := httptest.NewRequest(method, path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	r.Host = "127.0.0.1:8000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	switch header[0] {
	case "":
	case "Host":
		r.Host = header[1]
	default:
		r.Header.Set(header[0], header[1])
	}
	gone, leave := context.WithCancel(r.Context()) // nobody waits for a stream or a server: only who gets that far is of interest
	leave()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(gone))
	if w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden {
		return fmt.Sprint(w.Code)
	}
	return "in"
}
