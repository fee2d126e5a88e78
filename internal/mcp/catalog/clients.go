package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Names knows the naming scheme of each client.
type Names struct {
	general Naming
	file    []rule   // from the configuration file, most specific first
	known   []rule   // the built-in profiles
	all     []Naming // every Naming that For may return
	print   string   // fingerprint: differs if names may differ
}

// A rule applies to clients whose names match a pattern.
type rule struct {
	pattern string // in the form returned by folded
	naming  Naming // in a rule of the file, zero fields are unset
}

// A profile is what we know about one client.
type profile struct {
	client   string   // its name for people
	patterns []string // patterns of clientInfo.name
	naming   Naming
	patience int  // timeout in seconds, if a first list may take longer; 0: long enough
	once     bool // reads the lists once, and waits for them
	reading  Reading
}

// Reading is what a client passes on of a tool's result to its model. The zero value: all of it.
type Reading struct {
	Structured bool // structuredContent alone, where a result has one
	MaxChars   int  // beginning and end of longer results; 0: all
}

// codexChars is what Codex passes on for models that it does not know: 12 000 bytes of a result's
// JSON. Line breaks and quotes take two.
const codexChars = 9_000

// The punctuation that the APIs behind the clients accept.
const (
	apiPunctuation    = "_-"  // Anthropic, OpenAI, VS Code, Cline
	codexPunctuation  = "_"   // Codex turns '-' into '_'
	geminiPunctuation = "_-." // Gemini
)

// The names that clients pass to a model have at most 64 characters. Most clients prefix our names
// with their name for us. These lengths leave space for such a prefix with a name like "secateur".
// docs/clients.md has the calculation for each client.
const (
	apiLength    = 64 // for clients without a prefix
	roomyLength  = 48
	vscodeLength = 46 // VS Code's prefix has up to 18 characters, and longer names are cut off
)

// profiles returns the known clients; docs/clients.md gives the sources.
func profiles() []profile {
	api := Naming{Separator: "-", MaxLength: roomyLength, Punctuation: apiPunctuation}
	vscode, codex, gemini := api, api, api
	vscode.MaxLength = vscodeLength
	codex.Separator, codex.Punctuation = "__", codexPunctuation
	gemini.Punctuation = geminiPunctuation
	bare := api
	bare.MaxLength = apiLength
	const agents = 5
	structured := Reading{Structured: true}
	return []profile{
		{"Claude Desktop", []string{"claude-ai*", "claude desktop*", "claude-desktop*", "anthropic*"}, api, 0, false, Reading{}},
		{"Claude Code", []string{"claude-code*", "claude code*"}, api, 0, false, structured},
		{"Cursor", []string{"cursor*"}, api, 0, false, Reading{}},
		{"VS Code", []string{"visual studio code*", "visual-studio-code*", "vscode*", "code - oss*"}, vscode, 0, false, structured},
		{"GitHub Copilot", []string{"github-copilot*", "copilot*", "*-copilot-*"}, api, 0, false, Reading{}},
		{"Cline", []string{"cline*"}, api, 0, false, Reading{}},
		{"Continue", []string{"continue-client*", "continue-cli*"}, api, 0, false, Reading{}},
		{"Codex", []string{"codex*"}, codex, 0, false, Reading{Structured: true, MaxChars: codexChars}},
		{"Gemini CLI", []string{"gemini-cli*"}, gemini, 0, false, Reading{}},
		{"Windsurf", []string{"windsurf*"}, api, 0, false, Reading{}},
		{"Zed", []string{"zed*"}, api, 0, false, Reading{}},
		{"OpenCode", []string{"opencode*"}, api, 0, false, Reading{}},
		{"Goose", []string{"goose*"}, api, 0, false, Reading{}},
		{"LangChain", []string{"@langchain/mcp-adapters*"}, api, 0, true, Reading{}},
		{"AI SDK", []string{"ai-sdk-mcp-client*"}, bare, 0, true, Reading{}},
		{"OpenAI Agents", []string{"streamable-http: *", "sse: *", "stdio: *"}, bare, agents, false, Reading{}},
		// the Python SDK's default name: its program's timeout is unknown
		{"Python frameworks", []string{"mcp"}, bare, 0, true, Reading{}},
	}
}

// Reads returns what the client with this clientInfo name passes on of results.
func Reads(name string) Reading {
	name = folded(name)
	for _, p := range profiles() {
		if p.reading != (Reading{}) && slices.ContainsFunc(p.patterns, func(pattern string) bool { return matches(folded(pattern), name) }) {
			return p.reading
		}
	}
	return Reading{}
}

// Patience returns how many seconds the client with this clientInfo name waits for an answer. It
// returns 0 if that is long enough for a first list.
func Patience(name string) int {
	known, _ := profileOf(name)
	return known.patience
}

// ListsOnce reports whether the client with this clientInfo name reads the lists once and waits for
// them, such as a command line or a framework. The agents and editors among the known clients list
// again when told. All other clients count as reading once.
func ListsOnce(name string) bool {
	known, found := profileOf(name)
	return !found || known.once
}

func profileOf(name string) (profile, bool) {
	name = folded(name)
	for _, p := range profiles() {
		if slices.ContainsFunc(p.patterns, func(pattern string) bool { return matches(folded(pattern), name) }) {
			return p, true
		}
	}
	return profile{}, false
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

// For returns the Naming for the client with this clientInfo name; "": none given. Case does not
// matter. Of the file's patterns that match, the longest counts.
func (n *Names) For(name string) Naming {
	name = folded(name)
	naming := n.general
	if known, ok := find(n.known, name); ok {
		naming = known
	}
	said, _ := find(n.file, name)
	return naming.with(said)
}

// ToolName returns a client's name for a server's tool, before lists are known. If that name is
// taken, the tool gets another one.
func (n *Names) ToolName(client string, asked ClientSettings, server, tool string) string {
	return n.For(client).asked(asked).name(server, tool, 0)
}

// asked returns n with the client's requested settings. A client that requests a separator valid in
// the models' APIs gets only names that are valid there.
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

// with returns n overridden by the nonzero fields of said.
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

// matches reports whether a name matches a pattern, both folded.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// folded makes patterns and names comparable. It hides slashes, which are special to path.Match but
// not in a client's name.
func folded(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
