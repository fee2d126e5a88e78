package pool

import (
	"context"
	"maps"
	"slices"

	"secateur/internal/mcp/upstream"
)

// Reload replaces the set of servers. A server in both sets that is not marked as changed keeps its
// connections and process. Its settings may still differ where they do not affect the process
// (upstream.Settings.SameProcess). The connections of all other servers take no new calls and end
// with their last call. Members move to the replacements with their subscriptions and are notified
// of changed lists. An error comes from a builder and leaves everything unchanged. Otherwise commit
// is called at the moment of the switch; nil: none.
func (f *Pool) Reload(set Servers, commit func()) error {
	f.reloading.Lock()
	defer f.reloading.Unlock()
	before := f.roster.Load()
	next, err := f.newRoster(set, before)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == stopped {
		return ErrOver
	}
	for s, set := range next.anew {
		s.soft.Store(&set)
	}
	next.anew = nil
	f.roster.Store(next) // before connections refuse calls: refused callers must find the new ones
	if commit != nil {
		commit()
	}
	clear(f.merged)
	f.changed()
	for _, s := range before.all {
		if !slices.Contains(next.all, s) {
			f.retire(s, next.index[s.settings.ID])
		}
	}
	for _, s := range next.servers {
		f.startEager(s)
	}
	return nil
}

// retire removes a server. next replaces it; nil: none. The caller holds Pool.mu.
func (f *Pool) retire(s, next *server) {
	s.retired = true
	if next != nil { // until it has listed something, it is assumed to be unchanged
		next.last = s.last
		next.listed.Store(s.listed.Load())
	}
	moved := map[*Member]struct{}{}
	for _, c := range slices.Clone(s.conns) {
		c.leaving.Store(true)
		for _, m := range c.fanout.evict() {
			moved[m.Member] = struct{}{}
			m.moveTo(next, s)
		}
		c.endUnused()
	}
	if next != nil && len(moved) > 0 {
		f.jobs.start(func(context.Context) {
			for m := range maps.Keys(moved) {
				m.acquire(next) // tells the new one the subscriptions and the log level
			}
		})
	}
}

// evicted is a member removed from a connection, with its subscribed resources.
type evicted struct {
	*Member
	uris []string
}

// evict removes all members from a fanout. Unlike remove, it does not tell the server, which is
// about to end.
func (a *fanout) evict() (all []evicted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m, uris := range a.members {
		all = append(all, evicted{m, slices.Collect(maps.Keys(uris))})
	}
	clear(a.members)
	clear(a.subs)
	return all
}

// moveTo moves the lease on a server to its replacement. The caller holds Pool.mu.
func (m evicted) moveTo(next *server, from *server) {
	at := m.lease(from)
	if at == nil {
		return
	}
	at.conn.users--
	if next == nil {
		i := slices.IndexFunc(m.leases, func(l lease) bool { return l.server == from })
		m.leases = slices.Delete(m.leases, i, i+1)
		return
	}
	*at = lease{server: next, uris: m.uris}
}

// enter counts a caller that is about to make a call. It returns false if the connection takes no
// new calls; the server then has another one.
func (c *Conn) enter() bool {
	c.calls.Add(1)
	if c.leaving.Load() {
		c.leave()
		return false
	}
	return true
}

// leave reverses enter.
func (c *Conn) leave() {
	if c.calls.Add(-1) == 0 && c.leaving.Load() {
		c.pool.mu.Lock()
		defer c.pool.mu.Unlock()
		c.endUnused()
	}
}

// endUnused ends a connection that takes no new calls once no call is left. The caller holds
// Pool.mu.
func (c *Conn) endUnused() {
	if c.calls.Load() == 0 && c.leaving.Load() { // private.go may have changed its mind since
		c.end()
	}
}

// Hold is Conn for a caller that is going to use the connection. A reload does not end the
// connection before release is called.
func (m *Member) Hold(ctx context.Context, server string) (c *Conn, release func(), err error) {
	for {
		c, err := m.Conn(ctx, server)
		if err != nil {
			return nil, nil, err
		}
		if c.enter() {
			return c, c.release, nil
		}
	}
}

// Shared returns the shared connection of a server, held until release is called. It is nil if the
// server is unknown or disabled.
func (f *Pool) Shared(id string) (up *upstream.Upstream, release func()) {
	for {
		s := f.roster.Load().index[id]
		c := f.sharedOf(s)
		if c == nil {
			return nil, func() {}
		}
		if c.enter() {
			return c.up, c.release
		}
	}
}

// sharedOf returns the shared connection of a server; nil: none. In an eager pool it is always the
// server's first one.
func (f *Pool) sharedOf(s *server) *Conn {
	switch {
	case s == nil:
		return nil
	case f.opt.Eager:
		return s.first
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return s.shared
}

// Each calls do with every connection of the current servers.
func (f *Pool) Each(do func(up *upstream.Upstream)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.roster.Load().servers {
		for _, c := range s.conns {
			do(c.up)
		}
	}
}
