package test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The sample in configs/ is valid, with and without a token in the environment.
func TestEverythingConfig(t *testing.T) {
	for _, token := range []string{"", "demo-token"} {
		cmd := exec.CommandContext(t.Context(), secateur(t), "check", "--config", "../configs/config.everything.json")
		cmd.Env = append(os.Environ(), "AUTH_TOKEN="+token)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("check with AUTH_TOKEN=%q: %v\n%s", token, err, out)
		}
	}
}

// It runs unchanged: npx finds the server, and the token of the environment opens the pipe for the
// whole connection.
func TestEverythingConfigRuns(t *testing.T) {
	npmServer(t, "server-everything")
	need(t, "npx")
	config, err := filepath.Abs("../configs/config.everything.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("npm") // where npx finds the package without the registry
	c, _ := stdioClient(t, "2025-11-25", config, "AUTH_TOKEN=demo-token")
	c.open()
	if got := c.tool("everything::echo", `{"message":"hi"}`); got != "Echo: hi" {
		t.Errorf("echo: %q", got)
	}
}

func TestATokenIsAskedFor(t *testing.T) {
	p := start(t, "auth_token = \"s3cret\"\n"+peerConfig(t, "a", "plain"))
	for _, path := range []string{"/mcp", "/mcp/a"} {
		for _, version := range []string{"2025-11-25", modern} {
			c := httpClient(t, p, path, version)
			method := "tools/list"
			if version < modern {
				method = "initialize" // without it there is no session
			}
			if m := c.call(method, ""); m.Error == nil || m.Error.Code != -32015 || m.status != http.StatusUnauthorized {
				t.Errorf("%s %s without a token: HTTP %d %.300s, want 401 and -32015", path, version, m.status, m.raw)
			}
			if version < modern {
				continue // its sessions are tested below
			}
			if m := c.call(method, `{"proxy":{"authToken":"wrong"}}`); m.Error == nil || m.Error.Code != -32015 {
				t.Errorf("%s %s with a wrong token: HTTP %d %.300s", path, version, m.status, m.raw)
			}
			c.result(method, `{"proxy":{"authToken":"s3cret"}}`)
		}
	}
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"},"proxy":{"authToken":"s3cret"}}`)
	c.notify("notifications/initialized", "")
	got := firstText(t, c.result("tools/call", `{"name":"a::echo","arguments":{"nonce":"in"},"proxy":{"authToken":"s3cret"}}`))
	if got != "in" {
		t.Errorf("echo: %q", got)
	}
	if m := c.call("tools/call", `{"name":"a::echo","arguments":{"nonce":"in"}}`); m.Error == nil || m.Error.Code != -32015 {
		t.Errorf("a call without a token in a session that had one: %.300s", m.raw)
	}
}

// A long text of a result is cut at the aggregate's own door, and restored through the same
// connection.
func TestAggregateCutsAndRecovers(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %05d of a file that fills the context window\n", i+1)
	}
	config, dir := threeServers(t)
	file := filepath.Join(dir, "big.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "observation_masking.mcp.mode = \"head_tail\"\n"+config)
	for _, version := range []string{"2025-11-25", modern} {
		c := httpClient(t, p, "/mcp", version)
		c.open()
		got := c.tool("files::read_text_file", fmt.Sprintf(`{"path":%q}`, file))
		_, rest, found := strings.Cut(got, " id=prn_")
		if !found || len(got) > 21_000 || !strings.Contains(got, fmt.Sprintf("⟦PRUNED chars 10000-%d", text.Len()-10_000)) {
			t.Fatalf("%s: %d characters, no marker with an id: %.200s", version, len(got), got[min(len(got), 9_900):])
		}
		id := "prn_" + rest[:26]
		back := c.tool("pruner::recover_text", fmt.Sprintf(`{"prune_id":%q,"ranges":[{"start_line":5000,"end_line":5001}],"include_line_numbers":false}`, id))
		if !strings.Contains(back, `line 05000 of a file that fills the context window\nline 05001`) {
			t.Errorf("%s: recover_text: %.400s", version, back)
		}
	}
	// The transparent endpoint cuts nothing.
	c := httpClient(t, p, "/mcp/files", "2025-11-25")
	c.open()
	if got := c.tool("read_text_file", fmt.Sprintf(`{"path":%q}`, file)); got != text.String() {
		t.Errorf("/mcp/files gives %d characters, want the file's %d", len(got), text.Len())
	}
}
