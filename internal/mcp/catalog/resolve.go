package catalog

import (
	"strings"
	"unicode/utf8"
)

// ResolveTool returns the server that a tool name refers to, and the server's own name for the
// tool. It tries the following in order:
//   - the name this client was given;
//   - <server>::<name>, listed or not, because servers may have unlisted tools;
//   - the name that any other client would be given;
//   - a server's id and a name with any separator between them;
//   - the bare name, if only one server has it.
//
// A name that begins with a known server's id belongs to that server, whether it is up or down.
// Another server cannot take the call with a tool of such a name.
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

// NamesServer reports whether a tool name, prompt name or resource URI itself identifies its
// server. Such a request goes there, listed or not.
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

// Owner returns the id of the server that a prefixed tool name belongs to, in any client's naming
// scheme, or "".
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

// plainly returns a name in the spelling with the smallest character set of all clients.
func plainly(name string) string { return strings.ReplaceAll(name, "-", "_") }

func (c *Catalog) ownerOf(name string) int { return ownerAmong(name, c.servers) }

// ownerAmong returns the server with the longest id that is a prefix of the name, followed by
// punctuation; several: none.
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

// split splits a name at a separator after a server's id. The longest matching id wins.
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

// anySeparator splits a name into an id and a listed name, separated by any punctuation. It fails
// if that is ambiguous.
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

// ResolveURI returns the server that the URI of a resource or template refers to, and the server's
// own URI. It accepts our URIs. It also accepts a server's own URI if only one server lists it or
// has a matching template.
func (c *Catalog) ResolveURI(uri string) (server, original string, ok bool) {
	id, original, isOurs := DecodeURI(uri)
	index, known := c.index[id]
	if isOurs && strings.HasPrefix(uri, uiPrefix) {
		// It may also be a server's own URI whose host equals another server's id.
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

// foldedServer finds a server by its id, ignoring case. The id takes the place of a URI's host,
// which some clients convert to lower case.
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

// listing returns the server that lists a URI or template; several: more than one.
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

// hasResource reports whether a server lists a URI or template.
func (c *Catalog) hasResource(server int, uri string) bool {
	for _, l := range [...]List{Resources, Templates} {
		if _, ok := c.lists[l].listed[target{server, uri}]; ok {
			return true
		}
	}
	return false
}

// templated returns the only server with a template whose literal prefix matches a URI.
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
