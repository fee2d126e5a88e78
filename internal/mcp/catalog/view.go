package catalog

import (
	"sync"

	"secateur/internal/rawjson"
)

// A View is a catalog as one kind of client sees it. It is immutable, and its methods are safe for
// concurrent use.
type View struct {
	*Catalog
	naming  Naming
	tools   func() *nameList
	prompts func() *nameList
}

// nameList is a list of tools or prompts with a client's names.
type nameList struct {
	names    []string       // by entry
	index    map[string]int // index of the entry, by name
	rendered func() *rendered
}

// rendered is a list as the bytes that a client gets: items separated by commas.
type rendered struct {
	bytes []byte
	ends  []int // end offsets of the items
}

// maxViews limits the cached views of a catalog, because clients may request any names.
const maxViews = 32

// View returns the catalog in this naming scheme.
func (c *Catalog) View(n Naming) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.views[n]
	if v == nil {
		v = &View{Catalog: c, naming: n}
		v.tools = sync.OnceValue(func() *nameList { return c.nameList(n, Tools) })
		v.prompts = sync.OnceValue(func() *nameList { return c.nameList(n, Prompts) })
		if len(c.views) < maxViews {
			c.views[n] = v
		}
	}
	return v
}

// Naming returns the naming scheme of this view.
func (v *View) Naming() Naming { return v.naming }

// ToolName returns the client's name for a server's tool, and whether it is listed.
func (v *View) ToolName(server, original string) (string, bool) {
	return v.nameOf(Tools, server, original)
}

// PromptName is ToolName for prompts.
func (v *View) PromptName(server, original string) (string, bool) {
	return v.nameOf(Prompts, server, original)
}

func (v *View) nameOf(l List, server, original string) (string, bool) {
	index, known := v.index[server]
	if !known {
		return "", false
	}
	at, listed := v.lists[l].listed[target{index, original}]
	if !listed {
		return "", false
	}
	return v.named(l).names[at], true
}

// named returns the list of tools or prompts.
func (v *View) named(l List) *nameList {
	if l == Prompts {
		return v.prompts()
	}
	return v.tools()
}

// rendered returns a list's bytes.
func (v *View) rendered(l List) *rendered {
	if l == Tools || l == Prompts {
		return v.named(l).rendered()
	}
	return v.lists[l].rendered()
}

func (c *Catalog) nameList(n Naming, l List) *nameList {
	entries := c.lists[l].entries
	named := &nameList{names: n.names(c.servers, entries), index: make(map[string]int, len(entries))}
	for i, name := range named.names {
		named.index[name] = i
	}
	named.rendered = sync.OnceValue(func() *rendered { return renderAll(entries, named.names) })
	return named
}

// renderAll writes entries with their edits, and with the given names, if any.
func renderAll(entries []entry, names []string) *rendered {
	size := 0
	for i := range entries {
		size += len(entries[i].raw) + 1
		if names != nil {
			size += len(names[i])
		}
		for _, e := range entries[i].edits {
			size += len(e.New)
		}
	}
	r := &rendered{bytes: make([]byte, 0, size), ends: make([]int, len(entries))}
	for i := range entries {
		if i > 0 {
			r.bytes = append(r.bytes, ',')
		}
		e := &entries[i]
		if names != nil {
			r.bytes = e.appendRenamed(r.bytes, names[i])
		} else {
			r.bytes = rawjson.Apply(r.bytes, e.raw, e.edits)
		}
		r.ends[i] = len(r.bytes)
	}
	return r
}

// slice returns the items in the range [from, to).
func (r *rendered) slice(from, to int) []byte {
	if from >= to {
		return nil
	}
	start, end := 0, r.ends[to-1]
	if from > 0 {
		start = r.ends[from-1] + 1
	}
	return r.bytes[start:end:end]
}
