package catalog

import (
	"strings"
	"unicode/utf8"
)

// ResolveTool returns the server that a client means by a tool's name, and what
// the server calls the tool. In this order it takes: the name this client was
// given; <server>::<name>, listed or not, because servers may know more than they
// list; the name any other client would be given; a server's id and a name with any
// separator between them; and the bare name, where one server has it.
//
// A name that begins with a known server's id is that server's, whether it is there
// or away: no other server gets a call by having a tool of such a name.
func (v *View) ResolveTool(name string) (server, original string, ok bool) {
	return v.original(v.resolve(Tools, name))
}

// ResolvePrompt is ResolveTool for prompts.
func (v *View) ResolvePrompt(name string) (server, original string, ok bool) {
	return v.original(v.resolve(Prompts, name))
}

func (v *View) original(t target, ok bool) (server, original string, _ bool) {
	if !ok {
		return "", "", false
	}
	return v.servers[t.server], t.name, true
}

func (v *View) resolve(l List, name string) (target, bool) {
	m := &v.lists[l]
	if at, ok := v.named(l).index[name]; ok {
		return m.entries[at].target(), true
	}
	if contract, ok := v.split(name, ContractSeparator); ok {
		return contract, true
	}
	owner := v.ownerOf(name)
	if at, ok := m.forms()[name]; ok && at != several && (owner == several || owner == m.entries[at].server) {
		return m.entries[at].target(), true
	}
	if owner == several {
		at, ok := m.bare[name]
		if !ok || at == several {
			return target{}, false
		}
		return m.entries[at].target(), true
	}
	if t, ok := v.anySeparator(l, name); ok && t.server == owner {
		return t, true
	}
	for _, n := range v.names.all {
		if t, ok := v.split(name, n.Separator); ok {
			return t, true
		}
	}
	return target{}, false
}

// NamesServer tells whether the name of a tool or prompt, or the URI of a resource, says by itself which server it is for, so that it goes there
// listed or not.
func (v *View) NamesServer(name string) bool {
	if id, _, ok := DecodeURI(name); ok {
		_, known := v.index[id]
		return known
	}
	if _, ok := v.split(name, ContractSeparator); ok {
		return true
	}
	for _, n := range v.names.all {
		if _, ok := v.split(name, n.Separator); ok {
			return true
		}
	}
	_, fits := v.templated(name)
	return fits
}

// Owner returns the one of some servers that a name is of in some client's form of it; "": none.
func Owner(name string, servers []string) string {
	plain := make([]string, len(servers))
	for i, id := range servers {
		plain[i] = plainly(id)
	}
	if i := ownerAmong(plainly(name), plain); i != several {
		return servers[i]
	}
	return ""
}

// plainly is a name as the client writes it that takes the fewest characters.
func plainly(name string) string { return strings.ReplaceAll(name, "-", "_") }

func (c *Catalog) ownerOf(name string) int { return ownerAmong(name, c.servers) }

// ownerAmong returns the server whose id, the longest of those that do, a name begins with, some punctuation behind it; several: none.
func ownerAmong(name string, servers []string) int {
	owner := several
	for i, server := range servers {
		rest, ok := strings.CutPrefix(name, server)
		if ok && rest != "" && isPunctuation(rest[0]) && (owner == several || len(server) > len(servers[owner])) {
			owner = i
		}
	}
	return owner
}

func (e *entry) target() target { return target{e.server, e.name} }

// forms returns the entries by every name that some client would be given.
func (c *Catalog) forms(entries []entry) map[string]int {
	forms := make(map[string]int, len(entries)*len(c.names.all))
	for _, n := range c.names.all {
		for i, name := range n.names(c.servers, entries) {
			if other, taken := forms[name]; taken && other != i {
				forms[name] = several
			} else {
				forms[name] = i
			}
		}
	}
	return forms
}

// split takes a name apart at a separator, behind the longest id of a server.
func (c *Catalog) split(name, separator string) (target, bool) {
	best := target{server: several}
	for i, server := range c.servers {
		rest, ok := strings.CutPrefix(name, server)
		if !ok || best.server >= 0 && len(server) <= len(c.servers[best.server]) {
			continue
		}
		if rest, ok = strings.CutPrefix(rest, separator); ok && rest != "" {
			best = target{i, rest}
		}
	}
	return best, best.server >= 0
}

// anySeparator takes a name for an id and a listed name with some punctuation
// between them, if that can be done in one way only.
func (c *Catalog) anySeparator(l List, name string) (target, bool) {
	var found []target
	for i, server := range c.servers {
		rest, ok := strings.CutPrefix(name, server)
		for ok && rest != "" && isPunctuation(rest[0]) {
			rest = rest[1:]
			if _, listed := c.lists[l].listed[target{i, rest}]; listed {
				found = append(found, target{i, rest})
			}
		}
	}
	if len(found) != 1 {
		return target{}, false
	}
	return found[0], true
}

func isPunctuation(b byte) bool {
	isPlain := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
	return !isPlain && b > ' ' && b < utf8.RuneSelf
}

// ResolveURI returns the server that a client means by the URI of a resource or a
// template, and what the server calls it: one of ours, or a server's own if
// exactly one server lists it or has the only template that it may come from.
func (c *Catalog) ResolveURI(uri string) (server, original string, ok bool) {
	id, original, isOurs := DecodeURI(uri)
	index, known := c.index[id]
	if isOurs && strings.HasPrefix(uri, uiPrefix) {
		// It may as well be a server's own, whose host is the id of another one.
		if !known {
			index, known = c.foldedServer(id)
		}
		if _, isOwn := c.listing(uri); isOwn && known && !c.hasResource(index, original) {
			known = false
		}
	}
	if isOurs && known {
		return c.servers[index], original, true
	}
	if at, isOwn := c.listing(uri); isOwn {
		if at == several {
			return "", "", false
		}
		return c.servers[at], uri, true
	}
	if at, fits := c.templated(uri); fits {
		return c.servers[at], uri, true
	}
	return "", "", false
}

// foldedServer finds a server by its id in whatever case: the id stands where a
// URI has its host, and some clients write that in lower case.
func (c *Catalog) foldedServer(id string) (int, bool) {
	found := several
	for i, server := range c.servers {
		if !strings.EqualFold(server, id) {
			continue
		}
		if found != several {
			return 0, false
		}
		found = i
	}
	return found, found != several
}

// listing returns the server that lists a URI or template, several where there are
// more.
func (c *Catalog) listing(uri string) (server int, listed bool) {
	for _, l := range [...]List{Resources, Templates} {
		if at, ok := c.lists[l].bare[uri]; ok {
			if at == several {
				return several, true
			}
			return c.lists[l].entries[at].server, true
		}
	}
	return 0, false
}

// hasResource tells whether a server lists a URI or template.
func (c *Catalog) hasResource(server int, uri string) bool {
	for _, l := range [...]List{Resources, Templates} {
		if _, ok := c.lists[l].listed[target{server, uri}]; ok {
			return true
		}
	}
	return false
}

// templated returns the only server that has templates which begin, before their
// first variable, as a URI does.
func (c *Catalog) templated(uri string) (server int, fits bool) {
	server = several
	for i := range c.lists[Templates].entries {
		e := &c.lists[Templates].entries[i]
		literal, _, hasVariable := strings.Cut(e.name, "{")
		if !hasVariable || !strings.Contains(literal, ":") || !strings.HasPrefix(uri, literal) {
			continue
		}
		if server != several && server != e.server {
			return 0, false
		}
		server = e.server
	}
	return server, server != several
}

// offering returns the ids of the servers that list a name or URI.
func (c *Catalog) offering(l List, name string) []string {
	var ids []string
	for i, server := range c.servers {
		if _, ok := c.lists[l].listed[target{i, name}]; ok {
			ids = append(ids, server)
		}
	}
	return ids
}
