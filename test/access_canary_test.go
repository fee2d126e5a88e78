package test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/app"
	"secateur/internal/config"
)

// Searches everything that the program writes for secrets of the configuration, of callers and of
// redaction rules.
func TestSecretsAreNowhereToBeFound(t *testing.T) {
	dir := t.TempDir()
	canaries := map[string]string{
		"T": "canary-auth-token-0001", "H": "canary-hmac-secret-0002-0123456789abcdef", "K": "canary-provider-key-0003",
	}
	text := `listen = "127.0.0.1:0"
auth_token = "${T}"
log_level = "DEBUG"
[[servers]]
id = "demo"
builtin = "demo"
[providers.away]
base_url = "http://127.0.0.1:1/v1"
api_key = "${K}"
[[auth.hmac]]
key_id = "robot"
secret = "${H}"
[auth]
audit = "file:` + filepath.ToSlash(filepath.Join(dir, "audit.jsonl")) + `"
[store]
url = "file:` + filepath.ToSlash(filepath.Join(dir, "store")) + `"
[[acl]]
action = "redact"
patterns = ["canary-[a-z]+-[0-9]+"]
fields = ["password"]
[[acl]]
action = "allow"
`
	cfg, mistakes := config.Load(filepath.Join(dir, "c.toml"), []byte(text), config.Options{Lookup: func(name string) (string, bool) {
		v, ok := canaries[name]
		return v, ok
	}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	var log bytes.Buffer
	listening := make(chan net.Addr, 1)
	a, err := app.New(app.Options{
		Config: cfg, Version: "test", StateDir: filepath.Join(dir, "state"), Listening: func(addr net.Addr) { listening <- addr },
		Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	p := &program{url: "http://" + (<-listening).String(), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}

	var pages strings.Builder
	call := func(token, path, body string) {
		pages.WriteString(p.as(t, token, path, body).body)
	}
	secretText := strings.Repeat("a line of text\n", 600) + "canary-redacted-0004 and canary-twice-0005"
	arguments := `{"text":"` + strings.ReplaceAll(secretText, "\n", `\n`) + `","goal_hint":"text","source_type":"docs","options":{"max_prune_ratio":0.9,"min_keep_lines":1,"timeout_ms":1000,"annotate_lines":false,"include_markers":true}}`
	for _, token := range []string{canaries["T"], canaries["T"] + "x", "canary-wrong-0007"} {
		call(token, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":`+arguments+`}}`)
		call(token, "/api/mcp-gateway/pruner/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":`+arguments+`}}`)
		call(token, "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_json","arguments":{"password":"canary-password-0006"}}}`)
		call(token, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"proxy":{"authToken":"canary-message-0008"}}}`)
		call(token, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"canary-chat-0009"}]}`)
	}
	ids := regexp.MustCompile(`prn_[0-9A-Za-z]{26}`).FindAllString(pages.String(), -1)
	if len(ids) == 0 {
		t.Error("no original was kept")
	}
	for _, id := range ids { // they are compressed on disk
		call(canaries["T"], "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"`+id+
			`","ranges":[{"start_line":1,"end_line":1000}],"include_line_numbers":false}}}`)
	}
	for _, path := range []string{"/metrics", "/readyz", "/api/v1/whoami", "/api/v1/access/explain?principal=robot&target=demo::read_log"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+canaries["T"])
		pages.WriteString(p.do(t, req).body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for name, content := range map[string]string{"the log": log.String(), "the pages": pages.String()} {
		if i := strings.Index(content, "canary-"); i >= 0 {
			t.Errorf("%s: …%s…", name, content[max(0, i-200):min(len(content), i+60)])
		}
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if i := bytes.Index(content, []byte("canary-")); i >= 0 {
			t.Errorf("%s: …%q…", path, content[max(0, i-60):min(len(content), i+60)])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if audit, err := os.ReadFile(filepath.Join(dir, "audit.jsonl")); err != nil || !bytes.Contains(audit, []byte(`"decision":"redact"`)) || !bytes.Contains(audit, []byte(`"decision":"unauthorized"`)) {
		t.Errorf("the audit has not been written: %v %s", err, audit)
	}
}
