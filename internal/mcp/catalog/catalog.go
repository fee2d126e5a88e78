package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"secateur/internal/rawjson"
)

// ServerLists is everything that one server lists, all pages, with each item's raw bytes. A server
// that has not listed anything yet has no items, but its id is known.
type ServerLists struct {
	Server                               string // id
	Tools, Resources, Templates, Prompts [][]byte
	Focus                                bool // its tools get [FocusArgument]
}

// A Problem is an item that is left out, or not treated as what it looks like, with the reason.
type Problem struct {
	Server string
	List   List
	Item   string // its name or URI; #3: the third item, if it has neither
	Reason string
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s %q: %s", p.Server, p.List, p.Item, p.Reason)
}

// A Catalog is the merged lists of many servers. It is immutable, and its methods are safe for
// concurrent use.
type Catalog struct {
	names    *Names
	servers  []string
	index    map[string]int // index of each server in servers
	lists    [listCount]list
	problems []Problem

	mu    sync.Mutex // guards views
	views map[Naming]*View
}

// list is one of the four lists.
type list struct {
	entries    []entry
	generation string
	listed     map[target]int // index of the entry by server and name
	bare       map[string]int // index of the entry by name; several: more than one server has it

	// tools and prompts: index of the entry by every form of its name
	forms    func() map[string]int
	rendered func() *rendered // resources and templates, which are the same for all clients
}

// target is a tool, prompt, resource or template of one server.
type target struct {
	server int
	name   string
}

// several replaces an index if more than one entry matches.
const several = -1

// Merge merges the lists of all servers: servers in the given order, items in the order of their
// server. It keeps the items' bytes, which must be well-formed and must not change. names nil means
// the defaults.
func Merge(lists []ServerLists, names *Names) *Catalog {
	if names == nil {
		names = NewNames(Default())
	}
	c := &Catalog{names: names, index: make(map[string]int, len(lists)), views: map[Naming]*View{}}
	for i := range lists {
		if _, known := c.index[lists[i].Server]; !known {
			c.index[lists[i].Server] = len(c.servers)
			c.servers = append(c.servers, lists[i].Server)
		}
	}
	for l := range listCount {
		c.lists[l] = c.merge(l, lists)
	}
	return c
}

func (c *Catalog) merge(l List, servers []ServerLists) list {
	count := 0
	for i := range servers {
		count += len(servers[i].items(l))
	}
	m := list{
		entries: make([]entry, 0, count),
		listed:  make(map[target]int, count),
		bare:    make(map[string]int, count),
	}
	for i := range servers {
		server := servers[i].Server
		for n, raw := range servers[i].items(l) {
			e, problem := readItem(l, server, raw)
			e.server = c.index[server]
			if l == Tools && servers[i].Focus && problem == "" {
				e.addFocus()
			}
			if problem == "" && !m.add(l, e) {
				problem = "the server has another one of that name"
			}
			if problem != "" {
				item := e.name
				if item == "" {
					item = fmt.Sprintf("#%d", n+1)
				}
				c.problems = append(c.problems, Problem{Server: server, List: l, Item: item, Reason: problem})
			}
		}
	}
	m.generation = c.generation(l, m.entries)
	switch l {
	case Tools, Prompts:
		m.forms = sync.OnceValue(func() map[string]int { return c.forms(m.entries) })
	default:
		m.rendered = sync.OnceValue(func() *rendered { return renderAll(m.entries, nil) })
	}
	return m
}

// add adds an entry. It returns false if the server already has a tool or prompt of that name; a
// resource may be listed twice.
func (m *list) add(l List, e entry) bool {
	at, key := len(m.entries), target{e.server, e.name}
	if _, twice := m.listed[key]; !twice {
		m.listed[key] = at
	} else if l == Tools || l == Prompts {
		return false
	}
	if other, taken := m.bare[e.name]; !taken {
		m.bare[e.name] = at
	} else if other != several && m.entries[other].server != e.server {
		m.bare[e.name] = several
	}
	m.entries = append(m.entries, e)
	return true
}

func (s *ServerLists) items(l List) [][]byte {
	return [listCount][][]byte{Tools: s.Tools, Resources: s.Resources, Templates: s.Templates, Prompts: s.Prompts}[l]
}

// All yields every listed item by the server's own name or URI.
func (s *ServerLists) All() iter.Seq2[List, string] {
	return func(yield func(List, string) bool) {
		for _, l := range Lists() {
			for _, item := range s.items(l) {
				if !yield(l, rawjson.GetText(item, listWords[l].key)) {
					return
				}
			}
		}
	}
}

// generation returns a hash over everything that a client may see of a list.
func (c *Catalog) generation(l List, entries []entry) string {
	h := sha256.New()
	part := func(b []byte) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		_, _ = h.Write(b)
	}
	if l == Tools || l == Prompts {
		part([]byte(c.names.print))
	}
	for i := range entries {
		_, _ = io.WriteString(h, c.servers[entries[i].server]+"\x00")
		part(entries[i].raw)
		if entries[i].focus {
			part([]byte(FocusArgument))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Unusable returns why a tool that its server lists is left out, or "".
func (c *Catalog) Unusable(server, tool string) string {
	for _, p := range c.problems {
		if p.List == Tools && p.Server == server && p.Item == tool {
			if _, twice := c.lists[Tools].listed[target{c.index[server], tool}]; !twice {
				return p.Reason
			}
		}
	}
	return ""
}

// HasTaskTools reports whether a tool can be called as a task only.
func (c *Catalog) HasTaskTools() bool {
	return slices.ContainsFunc(c.lists[Tools].entries, func(e entry) bool { return e.task })
}

// NeedsTask reports whether a tool can be called as a task only.
func (c *Catalog) NeedsTask(server, tool string) bool {
	at, ok := c.lists[Tools].listed[target{c.index[server], tool}]
	return ok && c.lists[Tools].entries[at].task
}

// Servers returns the ids of all servers, in order.
func (c *Catalog) Servers() []string { return slices.Clone(c.servers) }

// Len returns the number of items in a list.
func (c *Catalog) Len(l List) int { return len(c.lists[l].entries) }

// LookAlikes returns the tools and prompts whose own name has the form <server>::<name> of another
// server's.
func (c *Catalog) LookAlikes() (all []Problem) {
	for _, l := range [...]List{Tools, Prompts} {
		for _, e := range c.lists[l].entries {
			if other, ok := c.split(e.name, ContractSeparator); ok && other.server != e.server {
				own, theirs := c.servers[e.server], c.servers[other.server]
				all = append(all, Problem{Server: own, List: l, Item: e.name, Reason: fmt.Sprintf(
					"its name has the form of one of the server %s; it is never taken for that, only %s%s%s calls it", theirs, own, ContractSeparator, e.name)})
			}
		}
	}
	return all
}

// Problems returns the items left out with the reasons, list by list, in order.
func (c *Catalog) Problems() []Problem { return slices.Clone(c.problems) }

// Generation returns a text that changes if and only if the list does. It is the same for the same
// list in another process.
func (c *Catalog) Generation(l List) string { return c.lists[l].generation }

// Same reports whether a list is the same in another catalog; nil has empty lists.
func (c *Catalog) Same(other *Catalog, l List) bool {
	if other == nil {
		return c.Len(l) == 0
	}
	return c.Generation(l) == other.Generation(l)
}

// For returns the catalog as seen by the client with this clientInfo name.
func (c *Catalog) For(name string) *View { return c.View(c.names.For(name)) }

// ForAsking is For with names that the client requested. They override the client's known naming
// scheme.
func (c *Catalog) ForAsking(name string, asked ClientSettings) *View {
	return c.View(c.names.For(name).asked(asked))
}

// Lists reports whether a server lists an item, by the server's own name or URI. A resource may
// also be a template.
func (c *Catalog) Lists(l List, server, original string) bool {
	at, known := c.index[server]
	if !known {
		return false
	}
	if l == Resources || l == Templates {
		return c.hasResource(at, original)
	}
	_, listed := c.lists[l].listed[target{at, original}]
	return listed
}

// Tool returns a tool as its server lists it. The bytes must not be modified.
func (c *Catalog) Tool(server, original string) (raw []byte, ok bool) {
	at, known := c.index[server]
	if !known {
		return nil, false
	}
	i, listed := c.lists[Tools].listed[target{at, original}]
	if !listed {
		return nil, false
	}
	return c.lists[Tools].entries[i].raw, true
}

// Each yields what a list has, by server and the server's own name or URI, with the bytes it came in, which must not be changed.
func (c *Catalog) Each(l List) iter.Seq2[Named, []byte] {
	return func(yield func(Named, []byte) bool) {
		for i := range c.lists[l].entries {
			e := &c.lists[l].entries[i]
			if !yield(Named{c.servers[e.server], e.name}, e.raw) {
				return
			}
		}
	}
}

// Named is a thing of a server, by the server's own name or URI.
type Named struct{ Server, Name string }
