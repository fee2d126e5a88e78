package catalog_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"secateur/internal/mcp/catalog"
)

func TestClients(t *testing.T) {
	api := catalog.Naming{Separator: "-", MaxLength: 48, Punctuation: "_-"}
	for _, c := range []struct{ client string }{
		{"claude-ai"},
		{"claude-ai (via mcp-remote 0.1.37)"},
		{"Anthropic/ClaudeAI"},
		{"claude-code"},
		{"cursor-vscode"},
		{"Cursor"},
		{"github-copilot-developer"},
		{"JetBrains-IU-copilot-intellij"},
		{"Xcode-copilot-xcode"},
		{"Cline"},
		{"continue-client"},
		{"continue-cli-client"},
		{"windsurf-client"},
		{"Windsurf"},
		{"Zed"},
		{"opencode"},
		{"goose-cli"},
		{"goose-desktop"},
		{"@langchain/mcp-adapters"},
	} {
		if got := catalog.NewNames(catalog.Default()).For(c.client); got != api {
			t.Errorf("For(%q) = %+v, want %+v", c.client, got, api)
		}
	}
	for client, want := range map[string]catalog.Naming{
		"Visual Studio Code":                         {Separator: "-", MaxLength: 46, Punctuation: "_-"},
		"Visual Studio Code - Insiders":              {Separator: "-", MaxLength: 46, Punctuation: "_-"},
		"Visual-Studio-Code":                         {Separator: "-", MaxLength: 46, Punctuation: "_-"},
		"codex-mcp-client":                           {Separator: "__", MaxLength: 48, Punctuation: "_"},
		"Codex":                                      {Separator: "__", MaxLength: 48, Punctuation: "_"},
		"gemini-cli-mcp-client":                      {Separator: "-", MaxLength: 48, Punctuation: "_-."},
		"gemini-cli-mcp-client-files":                {Separator: "-", MaxLength: 48, Punctuation: "_-."},
		"ai-sdk-mcp-client":                          {Separator: "-", MaxLength: 64, Punctuation: "_-"},
		"streamable-http: http://127.0.0.1:8000/mcp": {Separator: "-", MaxLength: 64, Punctuation: "_-"},
		"stdio: secateur":                            {Separator: "-", MaxLength: 64, Punctuation: "_-"},
		"mcp":                                        {Separator: "-", MaxLength: 64, Punctuation: "_-"},
		"mcp-inspector":                              contract,
		"":                                           contract,
		"inspector-client":                           contract,
		"my-own-client":                              contract,
		"not-a-claude-code":                          contract,
	} {
		if got := catalog.NewNames(catalog.Default()).For(client); got != want {
			t.Errorf("For(%q) = %+v, want %+v", client, got, want)
		}
	}
}

func TestTheFileGoesBeforeTheProfiles(t *testing.T) {
	names := catalog.NewNames(catalog.Settings{Separator: "::", Clients: map[string]catalog.ClientSettings{
		"claude*":      {Separator: "_", MaxLength: 40},
		"claude-code*": {MaxLength: 32},
		"Mine/*":       {Separator: "."},
		"cursor*":      {Separator: "::"},
	}})
	for client, want := range map[string]catalog.Naming{
		"claude-ai": {Separator: "_", MaxLength: 40, Punctuation: "_-"},
		// the longest pattern, and the profile for the rest
		"claude-code": {Separator: "-", MaxLength: 32, Punctuation: "_-"},
		"mine/a/b":    {Separator: "."},
		// the operator's setting wins
		"cursor-vscode": {Separator: "::", MaxLength: 48, Punctuation: "_-"},
		"windsurf":      {Separator: "-", MaxLength: 48, Punctuation: "_-"},
	} {
		got := names.For(client)
		if got != want {
			t.Errorf("For(%q) = %+v, want %+v", client, got, want)
		}
		if !slices.Contains(names.All(), got) {
			t.Errorf("For(%q) = %+v, which is not among all", client, got)
		}
	}
}

func TestAClientKeepsTheGeneralSeparatorWhereItCan(t *testing.T) {
	names := catalog.NewNames(catalog.Settings{Separator: "__"})
	for client, want := range map[string]string{"claude-code": "__", "codex": "__", "else": "__"} {
		if got := names.For(client).Separator; got != want {
			t.Errorf("For(%q).Separator = %q, want %q", client, got, want)
		}
	}
	if got := catalog.NewNames(catalog.Settings{Separator: "."}).For("claude-code").Separator; got != "-" {
		t.Errorf("Separator = %q for a client that refuses dots, want -", got)
	}
}

func TestAClientMayAskForNamesItself(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("x", "dotted.name", strings.Repeat("long", 20))}}, nil)
	for _, c := range []struct {
		rule, client string
		asked        catalog.ClientSettings
		want         catalog.Naming
	}{
		{"what is not asked for is as without", "my-own-client", catalog.ClientSettings{}, contract},
		{"a separator that APIs take makes names that they take", "my-own-client", catalog.ClientSettings{Separator: "__", MaxLength: 64}, catalog.Naming{Separator: "__", MaxLength: 64, Punctuation: "_-"}},
		{"one that they do not take leaves the rest alone", "my-own-client", catalog.ClientSettings{Separator: "."}, catalog.Naming{Separator: "."}},
		{"a length alone", "my-own-client", catalog.ClientSettings{MaxLength: 20}, catalog.Naming{Separator: "::", MaxLength: 20}},
		{"it goes before the profile, which counts for the rest", "codex", catalog.ClientSettings{Separator: "___"}, catalog.Naming{Separator: "___", MaxLength: 48, Punctuation: "_"}},
	} {
		v := cat.ForAsking(c.client, c.asked)
		if got := v.Naming(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rule, got, c.want)
		}
		for _, tool := range []string{"x", "dotted.name", strings.Repeat("long", 20)} {
			name, _ := v.ToolName("a", tool)
			if server, original, ok := v.ResolveTool(name); server != "a" || original != tool || !ok {
				t.Errorf("%s: ResolveTool(%q) = %q, %q, %v", c.rule, name, server, original, ok)
			}
		}
	}
}

func TestReadQuery(t *testing.T) {
	for _, c := range []struct {
		query string
		want  catalog.ClientSettings
		err   string
	}{
		{"", catalog.ClientSettings{}, ""},
		{"sessionId=x", catalog.ClientSettings{}, ""},
		{"separator=__&max_length=64", catalog.ClientSettings{Separator: "__", MaxLength: 64}, ""},
		{"separator=%2E", catalog.ClientSettings{Separator: "."}, ""},
		{"separator=a%20b", catalog.ClientSettings{Separator: "a b"}, "separator: expected a few characters without space, such as :: or -"},
		{"max_length=15", catalog.ClientSettings{MaxLength: 15}, "max_length: 15 is less than 16"},
		{"max_length=many", catalog.ClientSettings{}, "max_length: expected a whole number"},
		{"max_length=%", catalog.ClientSettings{}, "not a query"},
	} {
		got, err := catalog.ReadQuery(c.query)
		if got != c.want || fmt.Sprint(err) != cmp.Or(c.err, "<nil>") {
			t.Errorf("ReadQuery(%q) = %+v, %v, want %+v, %v", c.query, got, err, c.want, c.err)
		}
	}
}

// Clients may request any names. The number of cached views is limited, but further views are
// correct too.
func TestViewsBeyondTheBound(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("x")}}, nil)
	for i := range 100 {
		asked := catalog.ClientSettings{Separator: fmt.Sprint(i)}
		if name, _ := cat.ForAsking("", asked).ToolName("a", "x"); name != fmt.Sprintf("a%dx", i) {
			t.Errorf("%q", name)
		}
	}
	if got := cat.Views(); got > 32 {
		t.Errorf("%d views are kept", got)
	}
}

// The document has a row for each client. Its names must match the code.
func TestClientsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "| **") {
			rows++
		}
	}
	profiles := catalog.Profiles()
	if rows != len(profiles) {
		t.Errorf("docs/clients.md has %d rows for %d profiles", rows, len(profiles))
	}
	for _, p := range profiles {
		var patterns []string
		for _, pattern := range p.Patterns {
			patterns = append(patterns, "`"+pattern+"`")
		}
		row := fmt.Sprintf("| **%s** | %s | `%s` | %d | letters, digits, `%s` |", p.Client, strings.Join(patterns, " "),
			p.Naming.Separator, p.Naming.MaxLength, strings.Join(strings.Split(p.Naming.Punctuation, ""), "` `"))
		if !strings.Contains(string(doc), row+"\n") {
			t.Errorf("docs/clients.md lacks the row\n%s", row)
		}
	}
}

func TestPatience(t *testing.T) {
	for name, want := range map[string]int{
		"stdio: npx x": 5, "SSE: http://h/": 5, "mcp": 0, "mcp-inspector": 0, "claude-ai": 0, "": 0,
	} {
		if got := catalog.Patience(name); got != want {
			t.Errorf("Patience(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	if err := catalog.Default().Validate(); err != nil {
		t.Errorf("Default().Validate() = %v", err)
	}
	err := catalog.Settings{Separator: "", Clients: map[string]catalog.ClientSettings{
		"[":  {},
		"c*": {Separator: "-", MaxLength: 16},
	}}.Validate()
	want := `separator: must not be empty
clients."[": not a pattern`
	if err == nil || err.Error() != want {
		t.Errorf("Validate() = %v, want %v", err, want)
	}
	for _, c := range []struct {
		client catalog.ClientSettings
		want   string
	}{
		{catalog.ClientSettings{}, "<nil>"},
		{catalog.ClientSettings{Separator: "-", MaxLength: 16}, "<nil>"},
		{catalog.ClientSettings{Separator: "a b", MaxLength: 15}, "separator: expected a few characters without space, such as :: or -\nmax_length: 15 is less than 16"},
		{catalog.ClientSettings{Separator: "123456789", MaxLength: -1}, "separator: expected a few characters without space, such as :: or -\nmax_length: -1 is less than 16"},
	} {
		if got := fmt.Sprint(c.client.Validate()); got != c.want {
			t.Errorf("%+v: Validate() = %s, want %s", c.client, got, c.want)
		}
	}
}
