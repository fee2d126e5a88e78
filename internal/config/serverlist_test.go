package config

import (
	"io/fs"
	"strings"
	"testing"

	"secateur/internal/config/document"
)

// servers writes a list of servers as our TOML file would.
func servers(t *testing.T, list []FileServer) string {
	t.Helper()
	var out []byte
	for _, s := range list {
		var err error
		if out, err = document.Insert(document.TOML, out, document.Place{Group: "servers", List: true}, s.Fields); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

// Every client's form of a server is converted into ours, with its variables unexpanded.
func TestReadServersOfClients(t *testing.T) {
	for _, c := range []struct{ rule, path, in, want string }{
		{
			"Claude, Cursor and others", "mcp.json", `{"mcpServers": {"my files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "${A}"}}}}`,
			"[[servers]]\nid = \"my-files\"\ncommand = [\"npx\", \"-y\", \"x\"]\nenv = { A = \"${A}\" }\n",
		},
		{
			"VS Code", "mcp.json", "{\"servers\": {\"w\": {\"type\": \"http\", \"url\": \"https://x/mcp\"}}, /* c */ \"inputs\": [],}",
			"[[servers]]\nid = \"w\"\ntransport = \"http\"\nurl = \"https://x/mcp\"\n",
		},
		{
			"Codex", "config.toml", "model = \"x\"\n[mcp_servers.a]\ncommand = \"uv\"\nargs = [\"run\"]\ntool_timeout_sec = 20\n",
			"[[servers]]\nid = \"a\"\ncommand = [\"uv\", \"run\"]\nresponse_timeout = 20\n",
		},
		{
			"OpenCode", "opencode.json", `{"mcp": {"a": {"type": "local", "command": ["bun", "x"], "environment": {"K": "{env:KEY}"}, "enabled": false}}}`,
			"[[servers]]\nid = \"a\"\ncommand = [\"bun\", \"x\"]\ndisabled = true\nenv = { K = \"${env:KEY}\" }\n",
		},
		{
			"Continue", "config.yaml", "name: x\nmcpServers:\n  - name: DB\n    command: npx\n    args: [-y, db]\n    env:\n      K: ${{ secrets.DB_KEY }}\n      N: 5\n  - name: web\n    type: streamable-http\n    url: https://x/mcp\n    requestOptions:\n      headers:\n        Authorization: Bearer ${{ secrets.T }}\n",
			"[[servers]]\nid = \"DB\"\ncommand = [\"npx\", \"-y\", \"db\"]\nenv = { K = \"${DB_KEY}\", N = \"5\" }\n\n[[servers]]\nid = \"web\"\ntransport = \"http\"\nurl = \"https://x/mcp\"\nheaders = { Authorization = \"Bearer ${T}\" }\n",
		},
	} {
		list, mistakes := ReadServers(c.path, []byte(c.in), Options{}, nil)
		if got := servers(t, list.Servers); got != c.want || len(mistakes) > 0 {
			t.Errorf("%s: ReadServers = %q, %v, want %q", c.rule, got, mistakes, c.want)
		}
	}
}

// What clients write in their own way, and what is said where it is not quite the same here.
func TestImportIsFaithfulToEachClient(t *testing.T) {
	opt := Options{Lookup: func(name string) (string, bool) { return "/h", name == "HOME" }, ReadFile: func(path string) ([]byte, error) {
		if path != "/h/key" && path != "dir/key" {
			return nil, fs.ErrNotExist
		}
		return []byte("abc\n"), nil
	}}
	for _, c := range []struct{ rule, path, in, want, said string }{
		{
			"Gemini", ".gemini/settings.json", `{"mcpServers": {"a": {"command": "$BIN/x", "args": ["$$5", "${OK}"], "env": {"K": "$KEY"}, "timeout": 5000, "includeTools": ["a", "b(x)"], "excludeTools": ["c"], "trust": true}}}`,
			"[[servers]]\nid = \"a\"\ncommand = [\"${BIN}/x\", \"$$5\", \"${OK}\"]\nresponse_timeout = 5\ntools = [\"a\", \"b\"]\nexclude_tools = [\"c\"]\nenv = { K = \"${KEY}\" }\n",
			"mcpServers.a.trust: ignored",
		},
		{
			"Codex", "config.toml", "[mcp_servers.a]\ncommand = \"uv\"\nenv_vars = [\"A\", { name = \"B\", source = \"local\" }]\nenabled_tools = [\"x\"]\ndisabled_tools = [\"y\"]\n",
			"[[servers]]\nid = \"a\"\ncommand = [\"uv\"]\npass_env = [\"A\", \"B\"]\ntools = [\"x\"]\nexclude_tools = [\"y\"]\n", "",
		},
		{
			"OpenCode", "dir/opencode.json", `{"mcp": {"a": {"type": "remote", "url": "https://x/mcp", "headers": {"K": "Bearer {file:~/key}", "L": "{file:./key}", "M": "{file:none}"}}}}`,
			"[[servers]]\nid = \"a\"\ntransport = \"http\"\nurl = \"https://x/mcp\"\nheaders = { K = \"Bearer abc\", L = \"abc\", M = \"\" }\n",
			"{file:none} is left empty",
		},
		{
			"Claude Code", ".claude.json", `{"mcpServers": {"a": {"type": "http", "url": "https://x/mcp", "oauth": {"clientId": "me", "callbackPort": 8080}}}}`,
			"[[servers]]\nid = \"a\"\ntransport = \"http\"\nurl = \"https://x/mcp\"\noauth = { flow = \"login\", client_id = \"me\" }\n",
			"mcpServers.a.oauth.callbackPort: ignored",
		},
		{
			"Windsurf", "mcp_config.json", `{"mcpServers": {"a": {"command": "x", "disabledTools": ["y"]}}}`,
			"[[servers]]\nid = \"a\"\ncommand = [\"x\"]\nexclude_tools = [\"y\"]\n", "",
		},
	} {
		list, mistakes := ReadServers(c.path, []byte(c.in), opt, nil)
		text := servers(t, list.Servers)
		if text != c.want || len(mistakes) > 0 {
			t.Errorf("%s: ReadServers = %s, %v, want %s", c.rule, text, mistakes, c.want)
		}
		var said strings.Builder
		for _, w := range list.Warnings {
			said.WriteString(w.Key + ": " + w.Text + "\n")
		}
		if !strings.Contains(said.String(), c.said) {
			t.Errorf("%s: said %s, want %s", c.rule, said.String(), c.said)
		}
		lookup := func(name string) (string, bool) { return "x", name == "BIN" || name == "OK" || name == "KEY" }
		if _, mistakes := Load("ours.toml", []byte(text), Options{Lookup: lookup}); len(mistakes) > 0 {
			t.Errorf("%s: what was imported does not load: %v", c.rule, mistakes)
		}
	}
}

func TestReadServersSaysWhereOneMoreGoes(t *testing.T) {
	list := document.Place{Group: "servers", List: true}
	for _, c := range []struct {
		path, in string
		want     document.Place
	}{
		{"a.toml", "", list},
		{"a.toml", "[[servers]]\nid = \"a\"\n", list},
		{"a.json", `{"mcpServers": {}}`, document.Place{Group: "mcpServers"}},
		{"a.json", `{"servers": {"a": {"command": "x"}}}`, document.Place{Group: "servers"}},
		{"a.json", `{"servers": [], "mcpServers": {}}`, list},
	} {
		if got, _ := ReadServers(c.path, []byte(c.in), Options{}, nil); got.Into != c.want {
			t.Errorf("ReadServers(%q).Into = %+v, want %+v", c.in, got.Into, c.want)
		}
	}
}

func TestReadServersMakesIdsUnique(t *testing.T) {
	list, _ := ReadServers("a.json", []byte(`{"mcpServers": {"a": {"command": "x"}, "pruner": {"command": "y"}}}`), Options{}, map[string]bool{"a": true})
	if len(list.Servers) != 2 || list.Servers[0].ID != "a-2" || list.Servers[1].ID != "pruner-2" {
		t.Errorf("ReadServers = %+v, want a-2 and pruner-2", list.Servers)
	}
}

func TestLongNamesKeepTheirLastTellingPart(t *testing.T) {
	for name, want := range map[string]string{
		"github.com/modelcontextprotocol/servers/tree/main/src/filesystem": "filesystem",
		"github.com/acme-corporation/weather-mcp/tree/main/src/mcp-server": "weather-mcp",
		"a/short/path":                          "a-short-path",
		"one long name without any slash in it": "one-long-name-without-any-slash-in-it",
	} {
		list, _ := ReadServers("a.json", []byte(`{"mcpServers": {"`+name+`": {"command": "x"}}}`), Options{}, nil)
		if len(list.Servers) != 1 || list.Servers[0].ID != want {
			t.Errorf("the id of %q is %+v, want %q", name, list.Servers, want)
		}
	}
}

func TestReadServersOfABrokenFile(t *testing.T) {
	for path, in := range map[string]string{"a.json": "{", "a.toml": "= 1", "a.yaml": "a: b: c", "b.yaml": "- a", "c.json": "\xff\xfe{"} {
		if _, mistakes := ReadServers(path, []byte(in), Options{}, nil); len(mistakes) == 0 || mistakes[0].File != path {
			t.Errorf("ReadServers(%q) gives %v, want a mistake that names the file", in, mistakes)
		}
	}
}

func TestVariablesOf(t *testing.T) {
	fields := []document.Field{{Name: "command", Value: []any{"${A}", "${B:-x}", "$${C}"}}, {Name: "env", Value: []document.Field{{Name: "K", Value: "x ${env:D}"}}}}
	if got := strings.Join(VariablesOf(fields), " "); got != "A D" {
		t.Errorf("VariablesOf = %s, want A D", got)
	}
}
