package clients

import (
	"fmt"
	"path/filepath"
	"strings"

	"secateur/internal/config/document"
)

// EntryName is our name in a client's file.
const EntryName = "secateur"

// Client is a program that lists MCP servers in its own file.
type Client struct {
	Name   string // on the command line
	Title  string // for people
	Format document.Format
	Group  string // top-level key of its servers
	List   bool   // servers are a list whose items have names

	files    func(Machine) []string // the one to write first; others that it reads after it
	command  func(argv []string) []document.Field
	url      func(address string) []document.Field // nil: the file takes commands alone
	inherits bool                                  // its servers get its whole environment
	model    string                                // the setting by which its conversations pass through {base}; "": none is known
}

// Machine determines the paths of files.
type Machine struct {
	OS     string // as runtime.GOOS
	Home   string
	Lookup func(name string) (string, bool) // the environment
}

// Known returns the clients, in the order of detection.
func Known() []Client {
	return []Client{
		{Name: "claude-desktop", Title: "Claude Desktop", Group: "mcpServers", files: oneFile(Machine.appDir, "Claude", "claude_desktop_config.json"), command: plainCommand},
		{Name: "claude-code", Title: "Claude Code", Group: "mcpServers", files: claudeCodeFiles, command: typedCommand, url: typedURL("type", "http", "url"), model: "ANTHROPIC_BASE_URL={base} in the environment, or in env of ~/.claude/settings.json", inherits: true},
		{Name: "cursor", Title: "Cursor", Group: "mcpServers", files: oneFile(Machine.homeDir, ".cursor", "mcp.json"), command: plainCommand, url: typedURL("", "", "url"), inherits: true},
		{Name: "vscode", Title: "VS Code", Group: "servers", files: oneFile(Machine.appDir, "Code", "User", "mcp.json"), command: typedCommand, url: typedURL("type", "http", "url"), inherits: true},
		{Name: "cline", Title: "Cline", Group: "mcpServers", files: clineFiles, command: plainCommand, url: typedURL("type", "streamableHttp", "url"), model: "in the settings of the provider OpenAI Compatible: Base URL {base}/v1"},
		{Name: "continue", Title: "Continue", Format: document.YAML, Group: "mcpServers", List: true, files: continueFiles, command: namedCommand, url: namedURL, model: "in config.yaml, for each model: apiBase: {base}/v1"},
		{Name: "codex", Title: "Codex", Format: document.TOML, Group: "mcp_servers", files: codexFiles, command: plainCommand, url: typedURL("", "", "url"), model: `in config.toml, at the top: openai_base_url = "{base}/v1"`},
		{Name: "gemini", Title: "Gemini CLI", Group: "mcpServers", files: oneFile(Machine.homeDir, ".gemini", "settings.json"), command: plainCommand, url: typedURL("", "", "httpUrl"), inherits: true},
		{Name: "windsurf", Title: "Windsurf", Group: "mcpServers", files: oneFile(Machine.homeDir, ".codeium", "windsurf", "mcp_config.json"), command: plainCommand, url: typedURL("", "", "serverUrl")},
		{Name: "zed", Title: "Zed", Group: "context_servers", files: zedFiles, command: plainCommand, url: typedURL("", "", "url")},
		{Name: "kiro", Title: "Kiro", Group: "mcpServers", files: oneFile(Machine.homeDir, ".kiro", "settings", "mcp.json"), command: plainCommand, url: typedURL("", "", "url")},
		{Name: "roo", Title: "Roo Code", Group: "mcpServers", files: oneFile(Machine.appDir, "Code", "User", "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"), command: plainCommand, url: typedURL("type", "streamable-http", "url"), model: "in the settings of the provider OpenAI Compatible: Base URL {base}/v1"},
		{Name: "crush", Title: "Crush", Group: "mcp", files: crushFiles, command: typedCommand, url: typedURL("type", "http", "url"), model: `in crush.json: "providers": {"anthropic": {"base_url": "{base}"}}; for "openai" {base}/v1`},
		{Name: "amp", Title: "Amp", Group: "amp.mcpServers", files: ampFiles, command: plainCommand, url: typedURL("", "", "url")},
		{Name: "lm-studio", Title: "LM Studio", Group: "mcpServers", files: oneFile(Machine.homeDir, ".lmstudio", "mcp.json"), command: plainCommand, url: typedURL("", "", "url")},
		{Name: "opencode", Title: "OpenCode", Group: "mcp", files: openCodeFiles, command: openCodeCommand, url: openCodeURL, model: `in opencode.json: "provider": {"anthropic": {"options": {"baseURL": "{base}/v1"}}}; the same for "openai"`, inherits: true},
	}
}

// Names returns the names of all clients.
func Names() []string {
	var names []string
	for _, c := range Known() {
		names = append(names, c.Name)
	}
	return names
}

// ByName finds a client.
func ByName(name string) (Client, bool) {
	for _, c := range Known() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Files returns the files in which the client may list servers. The first is its default.
func (c Client) Files(m Machine) []string { return c.files(m) }

// File returns the file that connecting changes: the first that exists, or else the default.
func (c Client) File(m Machine) string { return existing(c.files(m)) }

// Place returns the position of our entry in the client's file.
func (c Client) Place() document.Place { return c.place(EntryName) }

func (c Client) place(name string) document.Place {
	return document.Place{Group: c.Group, Name: name, List: c.List}
}

// Inherits reports whether the client gives its servers its whole environment, and not a few variables.
func (c Client) Inherits() bool { return c.inherits }

// Command is our entry for a client that starts us.
func (c Client) Command(argv []string) []document.Field { return c.command(argv) }

// URL returns our entry for a client that connects to a running daemon.
func (c Client) URL(address string) ([]document.Field, error) {
	if c.url == nil {
		return nil, fmt.Errorf("the file of %s takes commands alone; connect it without --http", c.Title)
	}
	return c.url(address), nil
}

// ModelSetting returns the setting that routes the client's model conversations through a daemon at
// base, or "".
func (c Client) ModelSetting(base string) string { return strings.ReplaceAll(c.model, "{base}", base) }

func plainCommand(argv []string) []document.Field {
	return []document.Field{{Name: "command", Value: argv[0]}, {Name: "args", Value: argv[1:]}}
}

func typedCommand(argv []string) []document.Field {
	return append([]document.Field{{Name: "type", Value: "stdio"}}, plainCommand(argv)...)
}

func namedCommand(argv []string) []document.Field {
	return append([]document.Field{{Name: "name", Value: EntryName}}, typedCommand(argv)...)
}

func openCodeCommand(argv []string) []document.Field {
	return []document.Field{{Name: "type", Value: "local"}, {Name: "command", Value: argv}, {Name: "enabled", Value: true}}
}

func typedURL(typeKey, word, urlKey string) func(string) []document.Field {
	return func(address string) []document.Field {
		entry := []document.Field{{Name: urlKey, Value: address}}
		if typeKey != "" {
			entry = append([]document.Field{{Name: typeKey, Value: word}}, entry...)
		}
		return entry
	}
}

func namedURL(address string) []document.Field {
	return append([]document.Field{{Name: "name", Value: EntryName}}, typedURL("type", "streamable-http", "url")(address)...)
}

func openCodeURL(address string) []document.Field {
	return append(typedURL("type", "remote", "url")(address), document.Field{Name: "enabled", Value: true})
}

// homeDir returns the home directory, on every system.
func (m Machine) homeDir() string { return m.Home }

// appDir returns the settings directory of desktop programs.
func (m Machine) appDir() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		return m.dirOf("APPDATA", filepath.Join(m.Home, "AppData", "Roaming"))
	}
	return m.dirOf("XDG_CONFIG_HOME", filepath.Join(m.Home, ".config"))
}

// dirOf returns the directory that a variable names, or otherwise.
func (m Machine) dirOf(variable, otherwise string) string {
	if m.Lookup != nil {
		if dir, _ := m.Lookup(variable); filepath.IsAbs(dir) {
			return dir
		}
	}
	return otherwise
}

func oneFile(dir func(Machine) string, parts ...string) func(Machine) []string {
	return func(m Machine) []string {
		return []string{filepath.Join(append([]string{dir(m)}, parts...)...)}
	}
}

func claudeCodeFiles(m Machine) []string {
	return []string{filepath.Join(m.dirOf("CLAUDE_CONFIG_DIR", m.Home), ".claude.json")}
}

// clineFiles returns the extension's file in VS Code, then that of the command line.
func clineFiles(m Machine) []string {
	const name = "cline_mcp_settings.json"
	return []string{
		filepath.Join(m.appDir(), "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", name),
		filepath.Join(m.Home, ".cline", "data", "settings", name),
	}
}

func continueFiles(m Machine) []string {
	return []string{filepath.Join(m.dirOf("CONTINUE_GLOBAL_DIR", filepath.Join(m.Home, ".continue")), "config.yaml")}
}

func codexFiles(m Machine) []string {
	return []string{filepath.Join(m.dirOf("CODEX_HOME", filepath.Join(m.Home, ".codex")), "config.toml")}
}

// zedFiles are below ~/.config but on Windows.
func zedFiles(m Machine) []string {
	if m.OS == "windows" {
		return []string{filepath.Join(m.appDir(), "Zed", "settings.json")}
	}
	return []string{filepath.Join(m.dotConfig(), "zed", "settings.json")}
}

// crushFiles are below ~/.config on every system.
func crushFiles(m Machine) []string {
	return []string{filepath.Join(m.dotConfig(), "crush", "crush.json")}
}

// ampFiles are below ~/.config on every system.
func ampFiles(m Machine) []string {
	dir := filepath.Join(m.Home, ".config", "amp")
	return []string{filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.jsonc")}
}

// dotConfig is where programs of terminals keep their settings.
func (m Machine) dotConfig() string {
	return m.dirOf("XDG_CONFIG_HOME", filepath.Join(m.Home, ".config"))
}

// openCodeFiles are below ~/.config on every system.
func openCodeFiles(m Machine) []string {
	dir := filepath.Join(m.dotConfig(), "opencode")
	return []string{filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc")}
}
