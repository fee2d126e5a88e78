package aggregate

import (
	"context"
	"fmt"
	"strings"

	"secateur/internal/config/suggest"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/toolindex"
	"secateur/internal/rawjson"
)

// Bounds of an answer.
const (
	defaultHits    = 5
	maxHits        = 20
	maxDescribed   = 10
	maxPurpose     = 160 // characters of a description's first sentence
	maxSchema      = 8000
	maxNearest     = 3
	maxQuery       = 2000 // bytes; the rest of a longer query is not read
	maxDefinitions = 60_000
)

// ownTool answers a call of one of the tools of our own; false: it is not one.
func (s *clientConn) ownTool(ctx context.Context, c *client, a request) (reply, bool) {
	arguments := rawjson.Get(a.Params, "arguments")
	switch a.Name {
	case findTools:
		return s.find(ctx, c, a, arguments), true
	case describeTools:
		return s.describe(ctx, c, a, arguments), true
	}
	return reply{}, false
}

// index is what the caller may find, and the lists that it is made of.
func (s *clientConn) index(ctx context.Context, c *client, a request) (*toolindex.Index, *catalog.Catalog) {
	lists, _ := c.member.Catalog(ctx)
	return s.indexes.of(lists, a.now.Admission.Filters(), func(server, tool string) bool { return a.lists(catalog.Tools, server, tool) }), lists
}

// find answers find_tools.
func (s *clientConn) find(ctx context.Context, c *client, a request, arguments []byte) reply {
	query, ok := rawjson.Text(rawjson.Get(arguments, "query"))
	if query = strings.TrimSpace(query); !ok || query == "" {
		return s.toolAnswer(c, a, answer{text: `find_tools needs {"query": "what you want to do"}`, isError: true})
	}
	limit := defaultHits
	if n := integer(rawjson.Get(arguments, "limit")); n > 0 {
		limit = min(n, maxHits)
	}
	index, lists := s.index(ctx, c, a)
	hits := foundIn(index, lists, query, limit)
	if len(hits) == 0 {
		return s.toolAnswer(c, a, answer{text: "No tool matches. Other words may; the same words find nothing again.", structured: []byte(`{"tools":[]}`)})
	}
	var text strings.Builder
	structured := rawjson.Object(`{"tools":[`)
	for i, h := range hits {
		if i > 0 {
			text.WriteByte('\n')
			structured = append(structured, ',')
		}
		text.WriteString(h.Line())
		structured = append(structured, '{')
		structured.Text("name", h.Name)
		structured.Text("signature", h.Signature)
		structured.Text("description", h.Description)
		structured.Raw("score", fmt.Appendf(nil, "%.3f", h.Score))
		structured = append(structured, '}')
	}
	return s.toolAnswer(c, a, answer{text: text.String(), structured: append(structured, "]}"...)})
}

// FoundTool is a tool that serves a query.
type FoundTool struct {
	Name        string // server::tool
	Signature   string // (path: string, limit?: integer)
	Description string // its first sentence
	Score       float64
}

// Line is the tool in one line.
func (f FoundTool) Line() string {
	if f.Description == "" {
		return f.Name + f.Signature
	}
	return f.Name + f.Signature + " — " + f.Description
}

// FindTools returns the tools that serve a query, best first, of those that the caller sees.
func (s *Server) FindTools(lists *catalog.Catalog, sees func(server, tool string) bool, query string, limit int) []FoundTool {
	return foundIn(s.indexes.of(lists, true, sees), lists, strings.TrimSpace(query), min(limit, maxHits))
}

func foundIn(index *toolindex.Index, lists *catalog.Catalog, query string, limit int) (all []FoundTool) {
	for _, h := range index.Find(query[:min(len(query), maxQuery)], limit) {
		it := index.Item(h.Item)
		raw, _ := lists.Tool(it.Server, it.Name)
		all = append(all, FoundTool{
			Name: it.Server + catalog.ContractSeparator + it.Name, Signature: signature(raw), Description: firstSentence(it.Description, maxPurpose), Score: h.Score,
		})
	}
	return all
}

// describe answers describe_tools.
func (s *clientConn) describe(ctx context.Context, c *client, a request, arguments []byte) reply {
	var names []string
	for raw := range rawjson.Items(rawjson.Get(arguments, "names")) {
		if name, ok := rawjson.Text(raw); ok && len(names) < maxDescribed {
			names = append(names, name)
		}
	}
	if name, ok := rawjson.Text(rawjson.Get(arguments, "names")); ok { // one alone
		names = []string{name}
	}
	if len(names) == 0 {
		return s.toolAnswer(c, a, answer{text: `describe_tools needs {"names": ["server::tool", …]}`, isError: true})
	}
	index, lists := s.index(ctx, c, a)
	view := c.named(lists)
	var text strings.Builder
	failed := 0
	for i, asked := range names {
		if i > 0 {
			text.WriteString("\n\n")
		}
		server, tool, ok := view.ResolveTool(a.onlyVisible(view, asked))
		raw, listed := lists.Tool(server, tool)
		if !ok || !listed || !a.lists(catalog.Tools, server, tool) {
			failed++
			text.WriteString("unknown tool: " + clipped(asked) + nearest(index, asked))
			continue
		}
		if text.Len()+len(raw) > maxDefinitions {
			text.WriteString(server + catalog.ContractSeparator + tool + ": the answer would be too long; ask for it alone")
			continue
		}
		text.Write(rawjson.Set(raw, "name", rawjson.AppendQuoted(nil, server+catalog.ContractSeparator+tool)))
	}
	return s.toolAnswer(c, a, answer{text: text.String(), isError: failed == len(names)})
}

// nearest names the tools that an unknown name may have meant, of those that the caller may see; "" where there are none.
func nearest(index *toolindex.Index, asked string) string {
	asked = asked[:min(len(asked), maxQuery)]
	var names []string
	all := make([]string, index.Len())
	for i := range all {
		it := index.Item(i)
		all[i] = it.Server + catalog.ContractSeparator + it.Name
	}
	if near := suggest.Nearest(asked, all); near != "" {
		names = append(names, near)
	}
	for _, h := range index.Find(asked, maxNearest) {
		if name := all[h.Item]; len(names) == 0 || names[0] != name {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "; find_tools finds what there is"
	}
	return "; nearest: " + strings.Join(names[:min(len(names), maxNearest)], ", ")
}

// answer is what a tool of our own says.
type answer struct {
	text       string
	structured []byte
	isError    bool
}

// toolAnswer is an answer as the client's era has it.
func (s *clientConn) toolAnswer(c *client, a request, say answer) reply {
	o := rawjson.Object(`{"content":[{"type":"text","text":`)
	o = append(rawjson.AppendQuoted(o, say.text), `}]`...)
	if say.structured != nil {
		o.Raw("structuredContent", say.structured)
	}
	if say.isError {
		o.Bool("isError", true)
	}
	if c.era == era.Modern {
		o.Text("resultType", era.Complete)
		o.Raw("_meta", s.serverMeta())
	}
	return a.result(append(o, '}'))
}

// integer reads a small whole number, also one that was written as a string; 0 where there is none.
func integer(raw []byte) int {
	if text, ok := rawjson.Text(raw); ok {
		raw = []byte(text)
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > 1000 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}
