package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/config"
)

// runAt runs a command on a machine with one home directory.
func runAt(t *testing.T, home string, args ...string) (out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := world{
		in: strings.NewReader(""), out: &stdout, err: &stderr, home: home, environ: []string{"HOME=" + home},
		userDir: filepath.Join(home, ".config"), stateDir: filepath.Join(home, "state"),
	}
	if code := run(t.Context(), args, w); code != 0 {
		t.Fatalf("%v: exit status %d: %s", args, code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// putFile writes a file below a directory and returns its path.
func putFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnectTakesOutWhatWasImported(t *testing.T) {
	home := t.TempDir()
	const before = `{
  // mine
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b"}},
    "web": {"url": "https://web.example/mcp"}
  }
}
`
	file := putFile(t, home, ".cursor/mcp.json", before)
	read := func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	runAt(t, home, "import", "--from", "cursor", "--yes")
	if _, said := runAt(t, home, "connect", "cursor", "--dry-run"); !strings.Contains(said, "does not have: files, web") {
		t.Errorf("held servers do not run, and are taken out: %s", said)
	}
	runAt(t, home, "approve", "files", "web")
	putFile(t, home, ".cursor/mcp.json", strings.Replace(before, `"web"`, `"other": {"command": "other"}, "web"`, 1))
	if _, said := runAt(t, home, "connect", "cursor", "--replace=false", "--dry-run"); !strings.Contains(said, "there twice: files, web") {
		t.Errorf("with --replace=false: %s", said)
	}
	with := read()
	out, said := runAt(t, home, "connect", "cursor", "--yes", "--json")
	var c change
	if err := json.Unmarshal([]byte(out), &c); err != nil || strings.Join(c.Replaced, " ") != "files web" {
		t.Errorf("replaced %v, %v, want files and web", c.Replaced, err)
	}
	for _, want := range []string{"--replace=false keeps", "does not have: other", "restart Cursor"} {
		if !strings.Contains(said, want) {
			t.Errorf("connect does not say %q: %s", want, said)
		}
	}
	if now := read(); strings.Contains(now, `"files"`) || strings.Contains(now, `"web"`) || !strings.Contains(now, `"other"`) {
		t.Errorf("after connecting:\n%s", now)
	}
	if _, said = runAt(t, home, "disconnect", "cursor", "--yes"); !strings.Contains(said, "restart Cursor") {
		t.Errorf("disconnect: %s", said)
	}
	if now := read(); now != with {
		t.Errorf("after disconnecting:\n%s\nwant\n%s", now, with)
	}
}

func TestConnectSaysWhichHalfItSetsUp(t *testing.T) {
	for client, setting := range map[string]string{
		"claude-code": "ANTHROPIC_BASE_URL=http://127.0.0.1:8123 in",
		"codex":       `openai_base_url = "http://127.0.0.1:8123/v1"`,
		"opencode":    `"baseURL": "http://127.0.0.1:8123/v1"`,
		"continue":    "apiBase: http://127.0.0.1:8123/v1",
		"cline":       "Base URL http://127.0.0.1:8123/v1",
		"cursor":      "",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "secateur.toml")
		if err := os.WriteFile(file, []byte("listen = \"127.0.0.1:8123\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		w := world{in: strings.NewReader(""), out: &out, err: &said, home: dir, stateDir: t.TempDir()}
		if code := run(context.Background(), []string{"connect", client, "--config", file, "--yes", "--json"}, w); code != 0 {
			t.Fatalf("%s: exit status %d: %s", client, code, said.String())
		}
		if !strings.Contains(said.String(), "this is the MCP half") || !strings.Contains(said.String(), setting) {
			t.Errorf("%s: %s", client, said.String())
		}
		if isTold := strings.Contains(said.String(), "its conversations pass"); isTold != (setting != "") {
			t.Errorf("%s: a setting is told: %v", client, isTold)
		}
		if !json.Valid(out.Bytes()) {
			t.Errorf("%s: --json printed %s", client, out.String())
		}
	}
}

func TestNewFilesHaveNoDemo(t *testing.T) {
	home := t.TempDir()
	runAt(t, home, "add", "files", "--", "npx", "x")
	data, err := os.ReadFile(filepath.Join(home, ".config", "secateur", "secateur.toml"))
	if err != nil || strings.Contains(string(data), "demo") || !strings.Contains(string(data), "id = \"files\"") || !strings.Contains(string(data), "# A server of your own") {
		t.Errorf("%v: %s", err, data)
	}
}

func TestTokenCommandsSayThatEveryDoorAsks(t *testing.T) {
	home := t.TempDir()
	if _, said := runAt(t, home, "token", "new", "me"); !strings.Contains(said, "every door asks for a token") {
		t.Errorf("token new: %s", said)
	}
	w := world{home: home, stateDir: filepath.Join(home, "state")}
	cfg, _ := config.Default(config.Options{})
	hello := greeting{cfg: cfg, addr: "127.0.0.1:1", asks: w.hasTokens(cfg), originalID: func(string) string { return "prn" }}
	if next := hello.next(nil); strings.Count(next, `-H "Authorization: Bearer $SECATEUR_TOKEN"`) != 2 || !strings.Contains(next, "token new") {
		t.Errorf("serve says %s", next)
	}
	if _, said := runAt(t, home, "token", "revoke", "me"); !strings.Contains(said, "still asks") || !strings.Contains(said, "tokens.json") {
		t.Errorf("token revoke: %s", said)
	}
}
