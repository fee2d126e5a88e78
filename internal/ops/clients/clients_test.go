package clients

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"secateur/internal/config/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	argv    = []string{"/usr/local/bin/secateur", "stdio", "--config", "/home/me/secateur.toml"}
	address = "http://127.0.0.1:8000/mcp"
)

// The paths come from the clients' documentation and users; docs/clients.md lists them.
func TestFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		if os.Getenv("CI") != "" {
			t.Fatal("where clients keep their files was not tried: run the suite on another system")
		}
		t.Skip("the paths of other systems are joined with their own separator")
	}
	for _, c := range []struct {
		os, client, env string
		want            []string
	}{
		{"linux", "claude-desktop", "", []string{"/h/.config/Claude/claude_desktop_config.json"}},
		{"darwin", "claude-desktop", "", []string{"/h/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", "", []string{"/h/AppData/Roaming/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", "APPDATA=/roaming", []string{"/roaming/Claude/claude_desktop_config.json"}},
		{"linux", "claude-code", "", []string{"/h/.claude.json"}},
		{"linux", "claude-code", "CLAUDE_CONFIG_DIR=/c", []string{"/c/.claude.json"}},
		{"darwin", "cursor", "", []string{"/h/.cursor/mcp.json"}},
		{"linux", "vscode", "", []string{"/h/.config/Code/User/mcp.json"}},
		{"linux", "vscode", "XDG_CONFIG_HOME=/x", []string{"/x/Code/User/mcp.json"}},
		{"linux", "vscode", "XDG_CONFIG_HOME=relative", []string{"/h/.config/Code/User/mcp.json"}},
		{"darwin", "vscode", "", []string{"/h/Library/Application Support/Code/User/mcp.json"}},
		{"windows", "vscode", "", []string{"/h/AppData/Roaming/Code/User/mcp.json"}},
		{"linux", "cline", "", []string{"/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "/h/.cline/data/settings/cline_mcp_settings.json"}},
		{"linux", "continue", "", []string{"/h/.continue/config.yaml"}},
		{"linux", "continue", "CONTINUE_GLOBAL_DIR=/c", []string{"/c/config.yaml"}},
		{"windows", "codex", "", []string{"/h/.codex/config.toml"}},
		{"linux", "codex", "CODEX_HOME=/c", []string{"/c/config.toml"}},
		{"linux", "gemini", "", []string{"/h/.gemini/settings.json"}},
		{"windows", "windsurf", "", []string{"/h/.codeium/windsurf/mcp_config.json"}},
		{"darwin", "zed", "", []string{"/h/.config/zed/settings.json"}},
		{"windows", "zed", "APPDATA=/roaming", []string{"/roaming/Zed/settings.json"}},
		{"linux", "kiro", "", []string{"/h/.kiro/settings/mcp.json"}},
		{"darwin", "roo", "", []string{"/h/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"}},
		{"linux", "crush", "XDG_CONFIG_HOME=/x", []string{"/x/crush/crush.json"}},
		{"windows", "amp", "", []string{"/h/.config/amp/settings.json", "/h/.config/amp/settings.jsonc"}},
		{"darwin", "lm-studio", "", []string{"/h/.lmstudio/mcp.json"}},
		{"darwin", "opencode", "", []string{"/h/.config/opencode/opencode.json", "/h/.config/opencode/opencode.jsonc"}},
	} {
		client, ok := ByName(c.client)
		if !ok {
			t.Fatalf("there is no client %s", c.client)
		}
		name, value, _ := strings.Cut(c.env, "=")
		m := Machine{OS: c.os, Home: "/h", Lookup: func(n string) (string, bool) { return value, n == name && name != "" }}
		if got := strings.Join(client.Files(m), " "); got != strings.Join(c.want, " ") {
			t.Errorf("Files of %s on %s with %q = %s, want %s", c.client, c.os, c.env, got, c.want)
		}
	}
}

// Each golden file is a client's own file, then with our entry as a command, then as a URL.
func TestConnectGolden(t *testing.T) {
	for _, c := range Known() {
		t.Run(c.Name, func(t *testing.T) {
			file := filepath.Join("testdata", c.Name+".txtar")
			golden, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before := golden.Files[0].Data
			got := &txtar.Archive{Files: []txtar.File{golden.Files[0], {Name: "command", Data: inserted(t, c, before, c.Command(argv))}}}
			if entry, err := c.URL(address); err == nil {
				got.Files = append(got.Files, txtar.File{Name: "url", Data: inserted(t, c, before, entry)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := txtar.Format(golden); !bytes.Equal(txtar.Format(got), want) {
				t.Errorf("got\n%s\nwant\n%s", txtar.Format(got), want)
			}
		})
	}
}

func inserted(t *testing.T, c Client, data []byte, entry []document.Field) []byte {
	t.Helper()
	out, err := document.Insert(c.Format, data, c.Place(), entry)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bench is a machine with one client's file.
type bench struct {
	Machine
	Keeper
	client Client
	file   string
}

func newBench(t *testing.T, c Client, data []byte) bench {
	t.Helper()
	home := t.TempDir()
	b := bench{Machine{OS: "linux", Home: home}, Keeper{filepath.Join(home, "state")}, c, ""}
	b.file = c.Files(b.Machine)[0]
	if data != nil {
		b.put(t, data)
	}
	return b
}

func (b bench) put(t *testing.T, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.file, data, 0o640); err != nil {
		t.Fatal(err)
	}
}

func (b bench) connect(t *testing.T, entry []document.Field, replace ...string) Connection {
	t.Helper()
	plan, err := b.Connect(b.client, b.Machine, entry, replace)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Changed() {
		if _, err := b.Join(plan); err != nil {
			t.Fatal(err)
		}
	}
	return plan
}

func (b bench) disconnect(t *testing.T) Connection {
	t.Helper()
	plan, err := b.Disconnect(b.client, b.Machine)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Changed() {
		if _, err := b.Part(plan); err != nil {
			t.Fatal(err)
		}
	}
	return plan
}

func (b bench) now(t *testing.T) Version {
	t.Helper()
	v, err := Read(b.file)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Disconnecting restores any file byte for byte, even after connecting twice.
func TestDisconnectRestores(t *testing.T) {
	for _, c := range Known() {
		golden, err := txtar.ParseFile(filepath.Join("testdata", c.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		sample := golden.Files[0].Data
		for name, data := range map[string][]byte{
			"as it is":    sample,
			"CRLF":        bytes.ReplaceAll(sample, []byte("\n"), []byte("\r\n")),
			"no last end": bytes.TrimRight(sample, "\n"),
			"empty":       {},
			"a BOM":       append([]byte("\xef\xbb\xbf"), sample...),
		} {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				b := newBench(t, c, data)
				b.connect(t, c.Command(argv))
				if bytes.Equal(b.now(t).Data, data) {
					t.Fatal("Connect changed nothing")
				}
				if again := b.connect(t, c.Command(argv)); again.Changed() {
					t.Errorf("connecting again changed %q into %q", again.Before.Data, again.After.Data)
				}
				b.connect(t, c.Command([]string{"/other/secateur", "stdio"}))
				b.disconnect(t)
				if got := b.now(t); !got.Exists || !bytes.Equal(got.Data, data) {
					t.Errorf("after disconnecting: %q, want %q", got.Data, data)
				}
				if info, err := os.Stat(b.file); err != nil || info.Mode().Perm() != 0o640 {
					t.Errorf("mode %v, %v, want 0640", info.Mode(), err)
				}
				if plan := b.disconnect(t); plan.Changed() {
					t.Errorf("disconnecting again changed it")
				}
			})
		}
	}
}

// A file that was changed since loses only our entry.
func TestDisconnectFromAChangedFile(t *testing.T) {
	c, _ := ByName("cursor")
	b := newBench(t, c, []byte("{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n"))
	b.connect(t, c.Command(argv))
	b.put(t, bytes.Replace(b.now(t).Data, []byte(`"a": {}`), []byte(`"a": {"url": "x"} /* mine */`), 1))
	b.disconnect(t)
	want := "{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"x\"} /* mine */\n  }\n}\n"
	if got := string(b.now(t).Data); got != want {
		t.Errorf("after disconnecting: %q, want %q", got, want)
	}
}

// A file that connecting created is removed again.
func TestDisconnectRemovesWhatConnectMade(t *testing.T) {
	for _, c := range Known() {
		b := newBench(t, c, nil)
		b.connect(t, c.Command(argv))
		if info, err := os.Stat(b.file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", c.Name, info, err)
		}
		b.disconnect(t)
		if b.now(t).Exists {
			t.Errorf("%s: the file is still there", c.Name)
		}
	}
}

// Dotfiles are often links into a repository: the link stays and its target is written.
func TestLinksStay(t *testing.T) {
	c, _ := ByName("cursor")
	b := newBench(t, c, []byte("{}"))
	target := filepath.Join(b.Home, "dotfiles.json")
	if err := os.Rename(b.file, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, b.file); err != nil {
		t.Fatal(err)
	}
	b.connect(t, c.Command(argv))
	if info, err := os.Lstat(b.file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	b.disconnect(t)
	if data, err := os.ReadFile(target); string(data) != "{}" {
		t.Errorf("the link's target is %q, %v", data, err)
	}
}

// A file changed between preview and confirmation is not touched.
func TestWriteRefusesAChangedFile(t *testing.T) {
	c, _ := ByName("cursor")
	b := newBench(t, c, []byte("{}"))
	plan, err := b.Connect(c, b.Machine, c.Command(argv), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, []byte(`{"x": 1}`))
	if _, err := b.Join(plan); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("Join: err = %v, want that the file has changed", err)
	}
	if got := string(b.now(t).Data); got != `{"x": 1}` {
		t.Errorf("the file is %q", got)
	}
}

func TestBrokenFilesAreLeft(t *testing.T) {
	for _, c := range Known() {
		b := newBench(t, c, []byte("{ ] broken: : ="))
		if _, err := b.Connect(c, b.Machine, c.Command(argv), nil); err == nil || !strings.Contains(err.Error(), b.file) {
			t.Errorf("%s: Connect: err = %v, want one that names the file", c.Name, err)
		}
	}
}

func TestBackups(t *testing.T) {
	b := newBench(t, Known()[0], []byte(`{"secret": 1}`))
	backup, err := b.Replace(b.file, b.now(t), Version{Data: []byte("{}"), Exists: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(backup)
	if err != nil || string(data) != `{"secret": 1}` {
		t.Errorf("the backup is %q, %v", data, err)
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the backup: %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := (Keeper{}).Replace(b.file, b.now(t), Version{}); err == nil {
		t.Error("without a state directory nothing may be written")
	}
}
