package config_test

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/secret"
)

func reveal(m map[string]secret.Text) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v.Reveal()
	}
	return out
}

// TestClientServersArrive shows how a client's keys are converted.
func TestClientServersArrive(t *testing.T) {
	const text = `{
	  "mcpServers": {
	    "files": {"command": "npx", "args": ["-y", "${PKG:-server}"], "cwd": "/tmp", "disabled": true, "timeout": 90,
	              "envFile": "f.env", "env": {"A": "own", "N": 1, "T": true, "GONE": null}},
	    "stream": {"type": "streamable-http", "httpUrl": "https://h/mcp", "headers": {"X-Key": "${KEY}"}, "timeout": 30000},
	    "events": {"url": "https://h/sse"},
	    "typed": {"type": "http", "url": "https://h/sse", "mask": false},
	    "pruner": {"command": ["x"], "enabled": false, "startup_timeout_sec": 2.5, "tool_timeout_sec": 7}
	  }
	}`
	cfg, mistakes := config.Load("dir/mcp.json", []byte(text), config.Options{
		Lookup: environment("KEY=k"),
		ReadFile: func(name string) ([]byte, error) {
			if name != "dir/f.env" {
				return nil, fs.ErrNotExist
			}
			return []byte("A=file\nB='${KEY}'\n"), nil
		},
	})
	if len(mistakes) > 0 || len(cfg.Servers) != 5 {
		t.Fatalf("Load: %d servers, mistakes %v", len(cfg.Servers), mistakes)
	}
	files, stream, events, typed, pruner := cfg.Servers[0], cfg.Servers[1], cfg.Servers[2], cfg.Servers[3], cfg.Servers[4]
	for _, c := range []struct {
		rule      string
		got, want any
	}{
		{"command and args become one list, expanded", files.Command, []string{"npx", "-y", "server"}},
		{"cwd is kept", files.Cwd, "/tmp"},
		{"disabled is kept", files.Disabled, true},
		{"a timeout in seconds is the response timeout", files.ResponseTimeout, 90 * time.Second},
		{
			"env beats envFile, whose values are not expanded; numbers and booleans become text", reveal(files.Env),
			map[string]string{"A": "own", "B": "${KEY}", "N": "1", "T": "true"},
		},
		{"httpUrl is the url", stream.URL, "https://h/mcp"},
		{"streamable-http is our http", stream.Transport, "http"},
		{"headers are kept", reveal(stream.Headers), map[string]string{"X-Key": "k"}},
		{"a timeout in milliseconds becomes seconds", stream.ResponseTimeout, 30 * time.Second},
		{"an address that ends in /sse is spoken to in SSE", events.Transport, "sse"},
		{"unless a type says otherwise", typed.Transport, "http"},
		{"our own keys are understood too", *typed.Mask, false},
		{"the built-in pruner keeps its id", pruner.ID, "pruner-2"},
		{"enabled = false is disabled", pruner.Disabled, true},
		{"startup_timeout_sec is the startup timeout", pruner.StartupTimeout, 2500 * time.Millisecond},
		{"tool_timeout_sec is the response timeout", pruner.ResponseTimeout, 7 * time.Second},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.rule, c.got, c.want)
		}
	}
}

func TestPrunerIDIsFreeWhereThePrunerIsOff(t *testing.T) {
	const text = `{"mcp_pruner": {"enabled": false}, "mcpServers": {"pruner": {"command": "x"}}}`
	if got := load(t, "c.json", text).Servers[0].ID; got != "pruner" {
		t.Errorf("id = %q, want pruner", got)
	}
	load(t, "c.toml", "[mcp_pruner]\nenabled = false\n[[servers]]\nid = \"pruner\"\ncommand = [\"x\"]\n")
}

// A client's file serves as a configuration after 'secateur connect' has written into it.
func TestOwnEntryOfAClientFileIsLeftOut(t *testing.T) {
	const text = `{"mcpServers": {
	  "a": {"command": "x"},
	  "secateur": {"command": "/opt/renamed", "args": ["stdio", "--config", "/c.toml"]},
	  "again": {"command": "C:\\Programs\\secateur.exe", "args": ["--config=/c.toml"]},
	  "pruner": {"command": "secateur", "args": ["pruner"]}
	}}`
	cfg := load(t, "c.json", text)
	if len(cfg.Servers) != 2 || cfg.Servers[0].ID != "a" || cfg.Servers[1].ID != "pruner-2" {
		t.Errorf("servers: %+v, want a and pruner-2", cfg.Servers)
	}
	said := 0
	for _, p := range cfg.Warnings {
		if strings.Contains(p.Text, "secateur itself") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("warnings %v, want two entries named as left out", cfg.Warnings)
	}
	if cfg := load(t, "c.json", `{"mcpServers": {"secateur": {"url": "http://127.0.0.1:8000/mcp"}}}`); len(cfg.Servers) != 0 {
		t.Errorf("servers: %+v, want none", cfg.Servers)
	}
}
