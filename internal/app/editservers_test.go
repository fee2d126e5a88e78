package app

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"secateur/internal/ops/admin"
)

// Adding, changing and removing servers works in the running program and in the file, which keeps
// its comments and order.
func TestControlEditsServers(t *testing.T) {
	c := control(t, "# the demo\n[[servers]]\nid = \"demo\" # mine\nbuiltin = \"demo\"\n\n# the last\n[[servers]]\nid = \"last\"\nbuiltin = \"demo\"\n")
	path := c.opt.Config.Path
	file := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	start := file()

	res, body := c.ask(t, "POST", "/servers", `{"id":"remote","url":"http://127.0.0.1:1/mcp","startup_timeout":1.5}`)
	var made admin.Server
	if err := json.Unmarshal([]byte(body), &made); err != nil || res.StatusCode != http.StatusCreated || made.ID != "remote" || made.Transport != "http" ||
		res.Header.Get("Location") != "/api/v1/servers/remote" {
		t.Fatalf("POST: %d %s, Location %q", res.StatusCode, body, res.Header.Get("Location"))
	}
	if want := start + "\n[[servers]]\nid = \"remote\"\nurl = \"http://127.0.0.1:1/mcp\"\nstartup_timeout = 1.5\n"; file() != want {
		t.Errorf("the file:\n%s\nwant:\n%s", file(), want)
	}

	res, body = c.ask(t, "PUT", "/servers/demo", `{"builtin":"demo","disabled":true}`)
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `"state":"disabled"`) {
		t.Errorf("PUT: %d %s", res.StatusCode, body)
	}
	if !strings.Contains(file(), "# the demo\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\ndisabled = true\n\n# the last\n") {
		t.Errorf("the file:\n%s", file())
	}

	res, body = c.ask(t, "DELETE", "/servers/remote", "", "If-Match", `W/"other"`)
	wantProblem(t, res, body, 412, "invalid_request", "it has changed")
	seen, _ := c.ask(t, "GET", "/servers/last", "")
	if res, body = c.ask(t, "DELETE", "/servers/last", "", "If-Match", seen.Header.Get("ETag")); res.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("DELETE: %d %s", res.StatusCode, body)
	}
	if res, _ := c.ask(t, "GET", "/servers/last", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("a removed server: %d", res.StatusCode)
	}
	if strings.Contains(file(), "last\"") {
		t.Errorf("the file:\n%s", file())
	}
}

// Edits that are impossible or not allowed are refused with the reason, and nothing is written.
func TestControlRefusesEdits(t *testing.T) {
	c := control(t, controlDemo)
	before, err := os.ReadFile(c.opt.Config.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []struct {
		method, path, body string
		status             int
		code, part         string
	}{
		{"POST", "/servers", `{"id":"shell","command":["sh"]}`, 403, "commands_not_allowed", "allow_commands"},
		{"PUT", "/servers/demo", `{"command":["sh"]}`, 403, "commands_not_allowed", "allow_commands"},
		{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1","headers":{"X":"${HOME}"}}`, 403, "commands_not_allowed", "headers: "},
		{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1/${HOME}"}`, 403, "commands_not_allowed", "allow_commands"},
		{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1","oauth":{"client_id":"a$$${HOME:-x}${HOME}"}}`, 403, "commands_not_allowed", "oauth: "},
		{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1","bearer_token_env_var":"HOME"}`, 403, "commands_not_allowed", "bearer_token_env_var: "},
		{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1","headers":{"X":"{env:HOME}"}}`, 403, "commands_not_allowed", "headers: "},
		{"PUT", "/servers/demo", `{"url":"http://127.0.0.1:1","headers":{"X":"a\u0024{env:HOME}"}}`, 403, "commands_not_allowed", "headers: "},
		{"POST", "/servers", `{"id":"demo","url":"http://127.0.0.1:1"}`, 409, "invalid_request", "already there"},
		{"POST", "/servers", `{"id":"pruner","url":"http://127.0.0.1:1"}`, 409, "invalid_request", "already there"},
		{"POST", "/servers", `{"url":"http://127.0.0.1:1"}`, 400, "invalid_request", "id: missing"},
		{"POST", "/servers", `[]`, 400, "invalid_request", ""},
		{"POST", "/servers", `{"id":"x","id":"y"}`, 400, "invalid_request", ""},
		{"POST", "/servers", `{"id":"x","url":"nonsense"}`, 422, "config_invalid", "nothing was changed"},
		{"POST", "/servers", `{"id":"x","ulr":"http://127.0.0.1:1"}`, 422, "config_invalid", "nothing was changed"},
		{"POST", "/servers", `{"id":"x y","url":"http://127.0.0.1:1"}`, 422, "config_invalid", "nothing was changed"},
		{"PUT", "/servers/demo", `{"id":"other","builtin":"demo"}`, 400, "invalid_request", "keeps its id"},
		{"PUT", "/servers/none", `{"builtin":"demo"}`, 404, "unknown_server", ""},
		{"DELETE", "/servers/none", ``, 404, "unknown_server", ""},
		{"DELETE", "/servers/pruner", ``, 409, "config_read_only", "does not list"},
	} {
		res, body := c.ask(t, ask.method, ask.path, ask.body)
		wantProblem(t, res, body, ask.status, ask.code, ask.part)
		if ask.code == "config_invalid" && !strings.Contains(body, `"errors":[{"file":`) {
			t.Errorf("%s: it does not say where", body)
		}
	}
	if after, err := os.ReadFile(c.opt.Config.Path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v):\n%s", err, after)
	}
}

// With allow_commands a command may be added, and it runs.
func TestControlAddsACommand(t *testing.T) {
	c := control(t, "[admin]\nallow_commands = true\n")
	script := t.TempDir() + "/server.sh"
	if err := os.WriteFile(script, []byte(shellServer), 0o600); err != nil {
		t.Fatal(err)
	}
	res, body := c.ask(t, "POST", "/servers", `{"id":"shell","command":["sh","`+script+`"],"protocol":"legacy","startup_timeout":60,"env":{"TOKEN":"${HOME}"}}`)
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("POST: %d %s", res.StatusCode, body)
	}
	res, body = c.ask(t, "POST", "/servers/shell/restart", "")
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `"state":"ready"`) {
		t.Errorf("restart: %d %s", res.StatusCode, body)
	}
	data, err := os.ReadFile(c.opt.Config.Path)
	if err != nil || !strings.Contains(string(data), `"${HOME}"`) {
		t.Errorf("a variable is written as it is: %v\n%s", err, data)
	}
}

// Without a writable file no edit is possible.
func TestControlEditsNeedAFile(t *testing.T) {
	c := control(t, controlDemo)
	c.loaded.Load().Path = ""
	res, body := c.ask(t, "POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1"}`)
	wantProblem(t, res, body, 409, "config_read_only", "built-in default")
}
