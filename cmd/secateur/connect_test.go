package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
