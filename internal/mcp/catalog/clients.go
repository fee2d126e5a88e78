package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Names knows how each client wants names to look.
type Names struct {
	general Naming
	file    []rule   // most particular first
	known   []rule   // the built-in profiles
	all     []Naming // every one that For may return
	print   string   // differs where names may differ
}

// A rule is for the clients whose names match a pattern.
type rule struct {
	pattern string // as folded makes it
	naming  Naming // in a rule of the file, what is zero is not said
}

// A profile is what we know about one client.
type profile struct {
	client   string   // its name to a person
	patterns []string // of clientInfo.name
	naming   Naming
	patience int // how many seconds it waits for an answer, where a first list may take longer; 0: enough
}

// What the APIs behind the clients accept.
const (
	apiPunctuation    = "_-"  // Anthropic, OpenAI, VS Code, Cline
	codexPunctuation  = "_"   // Codex turns '-' into '_'
	geminiPunctuation = "_-." // Gemini
)

// The names that clients give a model have at most 64 characters, and most put
// the name under which they know us before ours. This leaves room for such a
// prefix with a name like "secateur" in it. docs/clients.md has the sum for each.
const (
	apiLength    = 64 // for clients that put nothing before a name
	roomyLength  = 48
	vscodeLength = 46 // VS Code's prefix has up to 18 characters, and what does not fit is cut off
)

// profiles are the clients we know; docs/clients.md says from where.
func profiles() []profile {
	api := Naming{Separator: "-", MaxLength: roomyLength, Punctuation: apiPunctuation}
	vscode, codex, gemini := api, api, api
	vscode.MaxLength = vscodeLength
	codex.Separator, codex.Punctuation = "__", codexPunctuation
	gemini.Punctuation = geminiPunctuation
	bare := api
	bare.MaxLength = apiLength
	const agents = 5
	return []profile{
		{"Claude Desktop", []string{"claude-ai*", "claude desktop*", "claude-desktop*", "anthropic*"}, api, 0},
		{"Claude Code", []string{"claude-code*", "claude code*"}, api, 0},
		{"Cursor", []string{"cursor*"}, api, 0},
		{"VS Code", []string{"visual studio code*", "visual-studio-code*", "vscode*", "code - oss*"}, vscode, 0},
		{"GitHub Copilot", []string{"github-copilot*", "copilot*", "*-copilot-*"}, api, 0},
		{"Cline", []string{"cline*"}, api, 0},
		{"Continue", []string{"continue-client*", "continue-cli*"}, api, 0},
		{"Codex", []string{"codex*"}, codex, 0},
		{"Gemini CLI", []string{"gemini-cli*"}, gemini, 0},
		{"Windsurf", []string{"windsurf*"}, api, 0},
		{"Zed", []string{"zed*"}, api, 0},
		{"OpenCode", []string{"opencode*"}, api, 0},
		{"Goose", []string{"goose*"}, api, 0},
		{"LangChain", []string{"@langchain/mcp-adapters*"}, api, 0},
		{"AI SDK", []string{"ai-sdk-mcp-client*"}, bare, 0},
		{"OpenAI Agents", []string{"streamable-http: *", "sse: *", "stdio: *"}, bare, agents},
		{"Python frameworks", []string{"mcp"}, bare, 0}, // what the Python SDK says where nobody says otherwise: how long its program waits is not known
	}
}

// Patience is how many seconds the client that calls itself name in its clientInfo waits for an answer, if that is less than a first
// list may take; else 0.
func Patience(name string) int {
	name = folded(name)
	for _, p := range profiles() {
		if p.patience > 0 && slices.ContainsFunc(p.patterns, func(pattern string) bool { return matches(folded(pattern), name) }) {
			return p.patience
		}
	}
	return 0
}

// NewNames returns the Names for valid settings.
func NewNames(s Settings) *Names {
	n := &Names{general: Naming{Separator: cmp.Or(s.Separator, ContractSeparator)}}
	for _, p := range profiles() {
		if p.naming.accepts(n.general.Separator) {
			p.naming.Separator = n.general.Separator
		}
		for _, pattern := range p.patterns {
			n.known = append(n.known, rule{folded(pattern), p.naming})
		}
	}
	for pattern, c := range s.Clients {
		n.file = append(n.file, rule{folded(pattern), Naming{Separator: c.Separator, MaxLength: c.MaxLength}})
	}
	slices.SortFunc(n.file, func(a, b rule) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.pattern, b.pattern))
	})
	n.all = n.every()
	n.print = fmt.Sprintf("%+v", n.all)
	return n
}

// For returns the Naming for the client that calls itself name in its
// clientInfo, "" if it says nothing. Upper and lower case do not matter. Of the
// file's patterns that match, the longest counts.
func (n *Names) For(name string) Naming {
	name = folded(name)
	naming := n.general
	if known, ok := find(n.known, name); ok {
		naming = known
	}
	said, _ := find(n.file, name)
	return naming.with(said)
}

// ToolName is what a client calls a server's tool, unless another has taken that name: what can be said before lists are
// there.
func (n *Names) ToolName(client string, asked ClientSettings, server, tool string) string {
	return n.For(client).asked(asked).name(server, tool, 0)
}

// asked returns n as a client asks for it. Whoever asks for a separator that the models' APIs take wants names that they
// take.
func (n Naming) asked(c ClientSettings) Naming {
	n = n.with(Naming{Separator: c.Separator, MaxLength: c.MaxLength})
	safe := Naming{Punctuation: apiPunctuation}
	if c.Separator != "" && n.Punctuation == "" && safe.accepts(c.Separator) {
		n.Punctuation = apiPunctuation
	}
	return n
}

// every returns all that For may return, the general one first.
func (n *Names) every() []Naming {
	bases := []Naming{n.general}
	for _, r := range n.known {
		if !slices.Contains(bases, r.naming) {
			bases = append(bases, r.naming)
		}
	}
	all := map[Naming]struct{}{}
	for _, base := range bases {
		for _, r := range n.file {
			all[base.with(r.naming)] = struct{}{}
		}
	}
	for _, base := range bases {
		delete(all, base)
	}
	return append(bases, slices.SortedFunc(maps.Keys(all), compareNamings)...)
}

// with returns n with what another one says.
func (n Naming) with(said Naming) Naming {
	n.Separator = cmp.Or(said.Separator, n.Separator)
	n.MaxLength = cmp.Or(said.MaxLength, n.MaxLength)
	return n
}

func compareNamings(a, b Naming) int {
	return cmp.Or(cmp.Compare(a.Separator, b.Separator), cmp.Compare(a.MaxLength, b.MaxLength),
		cmp.Compare(a.Punctuation, b.Punctuation))
}

func find(rules []rule, name string) (Naming, bool) {
	for _, r := range rules {
		if matches(r.pattern, name) {
			return r.naming, true
		}
	}
	return Naming{}, false
}

// matches tells whether a name is of a pattern, both folded.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// folded makes patterns and names comparable. A slash is nothing special in the
// name of a client, as it is to path.Match.
func folded(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
