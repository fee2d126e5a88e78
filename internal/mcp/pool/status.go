package pool

import (
	"slices"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// Status describes the current state of a server.
type Status struct {
	// of the shared connection or, if that is not started, of the one with the most users
	upstream.Status

	Connections int               // started connections
	Listed      bool              // all lists are known
	Problems    []catalog.Problem // listed items that cannot be used

	Tools, Resources, Templates, Prompts int // number of items listed
}

// Status returns the status of all servers in order, including disabled ones.
func (f *Pool) Status() []Status {
	servers := f.roster.Load().all
	all := make([]Status, len(servers))
	for i, s := range servers {
		switch {
		case s.settings.Disabled:
			all[i].Status = upstream.Status{ID: s.settings.ID, State: upstream.Disabled}
		case s.settings.Held:
			all[i].Status = upstream.Status{ID: s.settings.ID, State: upstream.Held, LastError: s.settings.HeldText()}
		default:
			all[i] = f.statusOf(s)
		}
	}
	return all
}

// Ending returns the ids of the servers that still have running connections, while the pool stops.
func (f *Pool) Ending() (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.roster.Load().servers {
		if slices.ContainsFunc(s.conns, func(c *Conn) bool { return c.wanted && !c.gone }) {
			ids = append(ids, s.settings.ID)
		}
	}
	return ids
}

// shown returns the connection that represents the server, and its lists; nil: none. The caller
// holds Pool.mu.
func (s *server) shown() (c *Conn, listed *snapshot) {
	c, listed = s.shared, s.last
	for _, other := range s.conns {
		if other.wanted && (c == nil || !c.wanted || c != s.shared && other.users > c.users) {
			c = other
		}
	}
	if c != nil && c.snapshot != nil {
		listed = c.snapshot
	}
	return c, listed
}

func (f *Pool) statusOf(s *server) Status {
	f.mu.Lock()
	c, listed := s.shown()
	st := Status{Listed: s.whole(c, listed)}
	for _, other := range s.conns {
		if other.wanted {
			st.Connections++
		}
	}
	f.mu.Unlock()
	st.Status = upstream.Status{ID: s.settings.ID, State: upstream.Stopped}
	if c != nil {
		st.Status = c.up.Status()
	}
	if listed != nil {
		st.Problems = listed.problems()
		st.Tools, st.Resources = len(listed.items[catalog.Tools]), len(listed.items[catalog.Resources])
		st.Templates, st.Prompts = len(listed.items[catalog.Templates]), len(listed.items[catalog.Prompts])
	}
	return st
}

// HasTool reports whether a server lists a tool, by the server's own name.
func (f *Pool) HasTool(server, tool string) bool {
	listed, _ := f.listed(server)
	return listed.has(catalog.Tools, tool)
}

// LastListed returns the known lists of a server. whole reports whether all of them have been read.
func (f *Pool) LastListed(server string) (lists catalog.ServerLists, whole bool) {
	listed, whole := f.listed(server)
	if listed == nil {
		return lists, false
	}
	return listed.lists(), whole
}

// listed returns the known lists of a server (nil: none) and whether they are complete.
func (f *Pool) listed(server string) (listed *snapshot, whole bool) {
	s := f.roster.Load().index[server]
	if s == nil {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, listed := s.shown()
	return listed, s.whole(c, listed)
}

// whole reports whether all lists of the given connection are known. The caller holds Pool.mu.
func (s *server) whole(c *Conn, listed *snapshot) bool {
	// A connection's lists arrive one by one. The lists of an earlier connection are complete.
	return listed != nil && (c == nil || listed != c.snapshot || isClosed(c.listed))
}
