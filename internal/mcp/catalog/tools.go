package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// How a client learns of tools.
const (
	ModeList   = "list"   // all definitions, in tools/list
	ModeSearch = "search" // find_tools and a few others; the rest is found
)

// ToolSettings say which clients find tools instead of listing them.
type ToolSettings struct {
	// Mode is for clients that Clients does not name.
	Mode string `toml:"mode"`
	// ThresholdTokens: search only where the definitions take more. 0: always.
	ThresholdTokens int `toml:"threshold_tokens"`
	// Clients are by a pattern of clientInfo.name and go before the built-in ones.
	Clients map[string]ClientTools `toml:"clients"`
}

// ClientTools are for the clients that a pattern names.
type ClientTools struct {
	Mode   string   `toml:"mode"`   // "": the general one
	Pinned []string `toml:"pinned"` // patterns of tools that are listed all the same
	Hidden []string `toml:"hidden"` // patterns of tools that are found instead of listed, in mode list too
	Split  bool     `toml:"split"`  // call_tool_read and call_tool_write in the place of call_tool
}

// DefaultTools are the settings of a file that says nothing.
func DefaultTools() ToolSettings { return ToolSettings{Mode: ModeList} }

// Validate reports every mistake as "key: text"; each client's settings have a Validate of their own.
func (s ToolSettings) Validate() error {
	errs := []error{validateMode(s.Mode)}
	if s.Mode == "" {
		errs = append(errs, errors.New("mode: must not be empty"))
	}
	if s.ThresholdTokens < 0 {
		errs = append(errs, fmt.Errorf("threshold_tokens: %d is negative", s.ThresholdTokens))
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Clients)) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			errs = append(errs, fmt.Errorf("clients.%q: not a pattern", pattern))
		}
	}
	return errors.Join(errs...)
}

// Validate reports every mistake as "key: text".
func (c ClientTools) Validate() error {
	errs := []error{validateMode(c.Mode)}
	for key, patterns := range map[string][]string{"pinned": c.Pinned, "hidden": c.Hidden} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil || !strings.Contains(p, ContractSeparator) && p != "*" {
				errs = append(errs, fmt.Errorf("%s: %q is no pattern of tools: write server::name, such as files::read_*", key, p))
			}
		}
	}
	return errors.Join(errs...)
}

func validateMode(mode string) error {
	switch mode {
	case "", ModeList, ModeSearch:
		return nil
	}
	return fmt.Errorf("mode: %q is not one of list, search", mode)
}

// ReadToolsQuery reads the mode that a client asks for in the query of its address, tools=search; "" where it does not.
func ReadToolsQuery(query string) (string, error) {
	if query == "" {
		return "", nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", errors.New("not a query")
	}
	return ReadToolsMode(values.Get("tools"))
}

// ReadToolsMode reads a mode; "" is none.
func ReadToolsMode(mode string) (string, error) {
	switch mode {
	case "", ModeList, ModeSearch:
		return mode, nil
	}
	return "", fmt.Errorf("tools: %q is not one of list, search", mode)
}

// searchers are the clients that find tools by themselves; docs/clients.md says from where that is known.
var searchers = []string{"claude-code*", "claude code*", "codex*", "visual studio code*", "visual-studio-code*", "vscode*", "code - oss*"}

// SearchesByItself reports whether the client that calls itself name defers definitions without our help.
func SearchesByItself(name string) bool {
	name = folded(name)
	return slices.ContainsFunc(searchers, func(pattern string) bool { return matches(pattern, name) })
}

// ToolProfiles know how each client learns of tools.
type ToolProfiles struct {
	settings ToolSettings
	clients  []toolRule // most particular first
}

type toolRule struct {
	pattern string // as folded makes it
	tools   ClientTools
}

// NewToolProfiles returns the profiles for valid settings.
func NewToolProfiles(s ToolSettings) *ToolProfiles {
	p := &ToolProfiles{settings: s}
	for pattern, c := range s.Clients {
		p.clients = append(p.clients, toolRule{folded(pattern), c})
	}
	slices.SortFunc(p.clients, func(a, b toolRule) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.pattern, b.pattern))
	})
	return p
}

// ToolProfile is how one client learns of tools.
type ToolProfile struct {
	Search    bool // tools are found, unless they are pinned
	Threshold int  // tokens of definitions above which that is so; 0: always
	Split     bool
	pinned    []string
	hidden    []string
}

// For returns the profile of the client that calls itself name. Asked is the mode that it asks for itself, "" where it does not.
func (p *ToolProfiles) For(name, asked string) ToolProfile {
	if p == nil {
		p = &ToolProfiles{}
	}
	name = folded(name)
	mode, threshold := p.settings.Mode, p.settings.ThresholdTokens
	if SearchesByItself(name) {
		mode = ModeList
	}
	var said ClientTools
	for _, r := range p.clients {
		if matches(r.pattern, name) {
			said = r.tools
			break
		}
	}
	if asked != "" {
		threshold = 0
	}
	mode = cmp.Or(asked, said.Mode, mode)
	return ToolProfile{Search: mode == ModeSearch, Threshold: threshold, Split: said.Split, pinned: said.Pinned, hidden: said.Hidden}
}

// Finds reports whether the client may have anything to find.
func (p ToolProfile) Finds() bool { return p.Search || len(p.hidden) > 0 }

// Lists reports whether the client lists a tool.
func (p ToolProfile) Lists(server, tool string) bool {
	name := server + ContractSeparator + tool
	if p.Search {
		return anyMatches(p.pinned, name)
	}
	return !anyMatches(p.hidden, name)
}

// anyMatches reports whether a name is of one of the patterns. A slash is nothing special.
func anyMatches(patterns []string, name string) bool {
	name = strings.ReplaceAll(name, "/", "\x00")
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(strings.ReplaceAll(p, "/", "\x00"), name) })
}
