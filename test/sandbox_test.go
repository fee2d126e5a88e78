package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/mcp/confine"
)

// Real servers list and answer the same in their sandboxes as without.
func TestRealServersWorkInTheirSandbox(t *testing.T) {
	if confine.Detect().ABI == 0 {
		lack(t, "this kernel has no Landlock")
	}
	root := t.TempDir()
	home, docs := filepath.Join(root, "home"), filepath.Join(root, "home", "docs")
	for _, dir := range []string{filepath.Join(home, "work"), docs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(docs, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	shrimp, err := filepath.Abs("npm/node_modules/mcp-shrimp-task-manager/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	node := need(t, "node")
	servers := []struct {
		name, call string
		command    []string
		env        string // what it needs to keep its files where it may
		profiles   []string
	}{
		{"everything", call(2, "get-sum", `{"a":2,"b":3}`), npmServer(t, "server-everything"), "", []string{"off", "package", "offline"}},
		{"filesystem", call(2, "read_text_file", fmt.Sprintf(`{"path":%q}`, docs+"/a.txt")), append(npmServer(t, "server-filesystem"), docs), "", []string{"off", "files", "offline"}},
		{"memory", call(2, "create_entities", `{"entities":[{"name":"n","entityType":"t","observations":["o"]}]}`), npmServer(t, "server-memory"), "MEMORY_FILE_PATH", []string{"off", "package", "files"}},
		{"tasks", call(2, "list_tasks", `{"status":"all"}`), []string{node, shrimp}, "DATA_DIR", []string{"off", "package", "files"}},
	}
	text := "listen = \"127.0.0.1:0\"\n"
	for _, s := range servers {
		for _, profile := range s.profiles {
			cwd := filepath.Join(home, "work", s.name+profile)
			if err := os.MkdirAll(cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf("[[servers]]\nid = \"%s-%s\"\ncommand = %s\ncwd = %q\nsandbox = %q\nsandbox_required = %t\n", s.name, profile, toml(s.command), cwd, profile, profile != "off")
			if s.env != "" {
				text += fmt.Sprintf("env = { %s = %q }\n", s.env, filepath.Join(cwd, "data"))
			}
		}
	}
	cfg, mistakes := config.Load("test.toml", []byte(patient(text)), config.Options{})
	for _, m := range mistakes {
		t.Fatal(m)
	}
	p := startIn(t, cfg, filepath.Join(home, ".local", "state"), func(o *app.Options) { o.Home = home })
	for _, s := range servers {
		var want [2]string
		for i, profile := range s.profiles {
			id := s.name + "-" + profile
			var got [2]string
			for j, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, s.call} {
				a := p.rpc(t, id, body)
				var said struct {
					Result json.RawMessage `json:"result"`
				}
				if err := json.Unmarshal([]byte(a.body), &said); err != nil || said.Result == nil || strings.Contains(string(said.Result), `"isError":true`) {
					t.Fatalf("%s: %.400s", id, a.body)
				}
				got[j] = strings.ReplaceAll(string(said.Result), s.name+profile, s.name)
			}
			if i == 0 {
				want = got
			} else if got != want {
				t.Errorf("%s: %.300s, want %.300s", id, got, want)
			}
		}
	}
	if list := p.get(t, "/api/v1/servers/filesystem-files"); !strings.Contains(list, `"sandbox":"files"`) || !strings.Contains(list, `"sandbox_gaps":[]`) {
		t.Errorf("the control plane does not show the sandbox: %s", list)
	}
}
