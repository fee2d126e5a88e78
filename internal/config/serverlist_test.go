package config

import (
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
