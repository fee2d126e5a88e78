package aggregate

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"secateur/internal/access"
	"secateur/internal/llm/tokens"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// Tools found instead of listed. A client whose profile says so lists find_tools, describe_tools and call_tool, the tools that its
// profile pins and those that restore what was cut; everything else it finds (findtools.go) and calls through call_tool, or
// by its own name (calltool.go). That list is made once for a session, so that a prompt cache holds.

// The tools of our own.
const (
	findTools     = "find_tools"
	describeTools = "describe_tools"
	callTool      = "call_tool"
	callToolRead  = "call_tool_read"  // in the place of call_tool: tools that change nothing
	callToolWrite = "call_tool_write" // and all others
)

// profileOf is how a client learns of tools. A session keeps the profile that it began with.
func (s *clientConn) profileOf(c *client, now *live) catalog.ToolProfile {
	if s.only != "" {
		return catalog.ToolProfile{}
	}
	if c.profile == nil {
		p := now.ToolProfiles.For(c.name, s.mode)
		return p
	}
	return *c.profile
}

// frozenTools is a list of tools that does not change any more.
type frozenTools struct {
	items []byte // with commas between them
	whole bool   // the definitions are few enough: it is the usual list, which may change
}

// maxFrozen bounds the lists that are kept for clients without a session.
const maxFrozen = 256

// frozenLists are the lists of clients without a session, by what tells these apart.
type frozenLists struct {
	mu  sync.Mutex
	all map[frozenKey]*frozenTools // guarded by mu
}

type frozenKey struct {
	now           *live
	caller, name  string
	mode          string
	names         catalog.ClientSettings
	isSearch      bool
	thresholdSize int
}

// listTools answers tools/list of a client that finds tools.
func (s *clientConn) listTools(ctx context.Context, c *client, a request, p catalog.ToolProfile) (reply, bool) {
	frozen := s.toolList(ctx, c, a, p)
	if frozen.whole {
		return reply{}, false
	}
	o := rawjson.Object{'{'}
	o.Name("tools")
	o = append(append(append(o, '['), frozen.items...), ']')
	if c.era == era.Modern {
		o.Text("resultType", era.Complete)
		o.Int("ttlMs", 0)
		o.Text("cacheScope", "private")
		o.Raw("_meta", s.serverMeta())
	}
	return a.result(append(o, '}')), true
}

// toolList is the session's list, made when it is first asked for.
func (s *clientConn) toolList(ctx context.Context, c *client, a request, p catalog.ToolProfile) *frozenTools {
	if !p.Search {
		return s.makeToolList(ctx, c, a, p)
	}
	if c.era == era.Legacy {
		if f := c.frozen.Load(); f != nil {
			return f
		}
		c.frozen.CompareAndSwap(nil, s.makeToolList(ctx, c, a, p))
		return c.frozen.Load()
	}
	key := frozenKey{a.now, a.principal.Key(), c.name, s.mode, s.asked, p.Search, p.Threshold}
	s.frozen.mu.Lock()
	f := s.frozen.all[key]
	s.frozen.mu.Unlock()
	if f != nil {
		return f
	}
	f = s.makeToolList(ctx, c, a, p)
	s.frozen.mu.Lock()
	defer s.frozen.mu.Unlock()
	if other := s.frozen.all[key]; other != nil {
		return other
	}
	for old := range s.frozen.all {
		if old.now != a.now || len(s.frozen.all) >= maxFrozen {
			delete(s.frozen.all, old)
		}
	}
	if s.frozen.all == nil {
		s.frozen.all = map[frozenKey]*frozenTools{}
	}
	s.frozen.all[key] = f
	return f
}

// isFrozen reports whether a modern client's list of tools does not change.
func (s *clientConn) isFrozen(ctx context.Context, c *client, a request) bool {
	p := s.profileOf(c, a.now)
	return p.Search && !s.toolList(ctx, c, a, p).whole
}

// makeToolList makes the list of what servers list now.
func (s *clientConn) makeToolList(ctx context.Context, c *client, a request, p catalog.ToolProfile) *frozenTools {
	lists, _ := c.member.Catalog(ctx)
	recovery := s.recoveryServer(ctx, c, a)
	listed := func(server, tool string) bool { return server == recovery || p.Lists(server, tool) }
	size, hides := 0, false
	known := map[string]bool{}
	for at, raw := range lists.Each(catalog.Tools) {
		known[at.Server] = true
		if !a.lists(catalog.Tools, at.Server, at.Name) {
			continue
		}
		size += tokens.Estimate(string(raw), tokens.JSON)
		hides = hides || !listed(at.Server, at.Name)
	}
	for _, server := range s.servers() { // what a server will list that has not listed yet is found too
		hides = hides || p.Search && !known[server] && a.now.Admission.Sees(a.principal, access.DoorMCP, server)
	}
	if p.Search && p.Threshold > 0 && size <= p.Threshold || !p.Search && !hides {
		return &frozenTools{whole: true}
	}
	page, err := c.named(lists).PageOf(catalog.Tools, catalog.Ask{}, 0, func(server, tool string) bool {
		return a.lists(catalog.Tools, server, tool) && listed(server, tool)
	})
	if err != nil { // a page without a cursor has none that is stale
		return &frozenTools{whole: true}
	}
	f := &frozenTools{}
	if hides {
		f.items = s.ownTools(ctx, c, a, p)
		if len(page.Items) > 0 {
			f.items = append(f.items, ',')
		}
	}
	f.items = append(f.items, page.Items...)
	return f
}

// recoveryServer is the server whose tools restore what was cut; "": there is none.
func (s *clientConn) recoveryServer(ctx context.Context, c *client, a request) string {
	if a.now.Recovery != "" || a.now.Masker == nil {
		return a.now.Recovery
	}
	for _, p := range c.member.Peers(over{ctx}) { //nolint:contextcheck // it is ctx, and has ended
		if p.Peer != nil && isPruner(p.Peer.ServerName) {
			return p.Server
		}
	}
	return ""
}

// ownTools are the definitions of the tools of our own.
func (s *clientConn) ownTools(ctx context.Context, c *client, a request, p catalog.ToolProfile) []byte {
	const query = `{"type":"object","properties":{"query":{"type":"string","description":"What you want to do, in a few words, or a tool's name."},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools at most. Default 5."}},"required":["query"]}`
	const names = `{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":10,` +
		`"description":"Names as find_tools gives them."}},"required":["names"]}`
	const call = `{"type":"object","properties":{"name":{"type":"string","description":"The tool's name as find_tools gives it, such as server::tool."},` +
		`"arguments":{"type":"object","description":"The tool's own arguments.","additionalProperties":true}},"required":["name"]}`
	out := appendDefinition(nil, findTools, s.findDescription(ctx, c, a), query, true)
	out = append(out, ',')
	out = appendDefinition(out, describeTools, "Gives the full definitions of tools that find_tools has found: every argument with its description.", names, true)
	if !p.Split {
		out = append(out, ',')
		return appendDefinition(out, callTool, "Calls a tool that find_tools has found. Wrong arguments are answered with the tool's schema.", call, false)
	}
	out = append(out, ',')
	out = appendDefinition(out, callToolRead, "Calls a tool that find_tools has found and that changes nothing.", call, true)
	out = append(out, ',')
	return appendDefinition(out, callToolWrite, "Calls a tool that find_tools has found and that may change something.", call, false)
}

func appendDefinition(dst []byte, name, description, schema string, readOnly bool) []byte {
	o := rawjson.Object(append(dst, '{'))
	o.Text("name", name)
	o.Text("description", description)
	o.Raw("inputSchema", []byte(schema))
	if readOnly {
		o.Begin("annotations")
		o.Bool("readOnlyHint", true)
		o.End()
	}
	return append(o, '}')
}

// Bounds of what find_tools says about servers.
const (
	maxServerLine  = 110 // characters
	maxServerLines = 60
)

// findDescription says what can be found: a line for each server that the caller may use.
func (s *clientConn) findDescription(ctx context.Context, c *client, a request) string {
	var b strings.Builder
	b.WriteString("Finds tools that are not listed here. Search before you say that something cannot be done. " +
		"Answers with lines name(arguments) — purpose; call one with call_tool. The servers:")
	lists := known(ctx, c.member)
	names := map[string][]string{}
	for at := range lists.Each(catalog.Tools) {
		if a.lists(catalog.Tools, at.Server, at.Name) {
			names[at.Server] = append(names[at.Server], at.Name)
		}
	}
	said := map[string]string{}
	for _, p := range c.member.Peers(over{ctx}) { //nolint:contextcheck // it is ctx, and has ended
		if p.Peer == nil {
			continue
		}
		if text, ok := rawjson.Text(p.Peer.Instructions()); ok && !a.now.Admission.HoldsInstructions(ctx, p.Server, text) {
			said[p.Server] = text
		}
	}
	count, left := 0, 0
	for _, server := range s.servers() {
		if !a.now.Admission.Sees(a.principal, access.DoorMCP, server) {
			continue
		}
		if count++; count > maxServerLines {
			left++
			continue
		}
		b.WriteString("\n- " + server + serverLine(said[server], names[server]))
	}
	if left > 0 {
		b.WriteString("\n- and " + strconv.Itoa(left) + " more servers")
	}
	return b.String()
}

// serverLine says what a server is for: the beginning of its instructions, or its tools.
func serverLine(instructions string, tools []string) string {
	if first := firstSentence(instructions, maxServerLine); first != "" {
		return ": " + first
	}
	if len(tools) == 0 {
		return ""
	}
	line := ": "
	for i, name := range tools {
		if i > 0 && len(line)+len(name) > maxServerLine {
			return line + ", …"
		}
		if i > 0 {
			line += ", "
		}
		line += name
	}
	return line
}

// searchHint is the sentence of the instructions that tells a model to search; "": it need not.
func (s *clientConn) searchHint(c *client, now *live) string {
	switch p := s.profileOf(c, now); {
	case !p.Finds():
		return ""
	case p.Search && p.Threshold > 0:
		return "If find_tools is listed, there are tools beyond those listed: find_tools finds them."
	default:
		return "Tools beyond those listed: find_tools finds them, call_tool calls them. Search before you say that something cannot be done."
	}
}

// firstSentence is the first sentence of a text on one line, of at most so many characters.
func firstSentence(text string, most int) string {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "#") { // a heading says less than what follows
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			text = strings.TrimSpace(strings.TrimLeft(text, "# "))
			break
		}
		text = strings.TrimSpace(rest)
	}
	text = strings.Join(strings.Fields(text), " ")
	const least = 16
	for i := least; i+1 < len(text); i++ {
		if (text[i] == '.' || text[i] == '!' || text[i] == '?') && text[i+1] == ' ' {
			text = text[:i+1]
			break
		}
	}
	return shortened(text, most)
}

// shortened cuts a text at a word's end.
func shortened(text string, most int) string {
	if rawjson.Chars(text) <= most {
		return text
	}
	cut, n := 0, 0
	for i := range text {
		if n == most-1 {
			cut = i
			break
		}
		n++
	}
	text = text[:cut]
	if at := strings.LastIndexByte(text, ' '); at > cut/2 {
		text = text[:at]
	}
	return text + "…"
}
