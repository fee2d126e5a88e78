package pool

import (
	"context"
	"maps"
	"slices"

	"secateur/internal/mcp/upstream"
)

// Reload puts other servers in the place of those there are. One that is in both and not said to have changed keeps its connections, and
// with them its process, though its settings may be others where they do not concern that (upstream.Settings.SameProcess). The connections of the others take no more calls: they end when the last call on them does.
// Members go over to what has taken a server's place, with what they subscribed to, and are told which lists have changed. An error,
// which is a builder's, leaves everything as it was. Else commit is called at the very moment; nil: nobody has to know.
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
	f.roster.Store(next) // before anything is closed to calls: who is turned away finds the new ones
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

// retire takes a server out; next is what takes its place, nil if nothing does. The pool is locked.
func (f *Pool) retire(s, next *server) {
	s.retired = true
	if next != nil { // until it has listed something, it is taken to be what it was
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
				m.acquire(next) // what it subscribed to and its log level are told to the new one
			}
		})
	}
}

// evicted is a member that a connection has put out, with the resources that it had subscribed to.
type evicted struct {
	*Member
	uris []string
}

// evict empties a fanout. Unlike remove it has nothing told to the server, which is about to end.
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

// moveTo makes the lease on a server one on what takes its place. The pool is locked.
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

// enter counts somebody who is about to make a call. False: the connection takes no more, and its server has another.
func (c *Conn) enter() bool {
	c.calls.Add(1)
	if c.leaving.Load() {
		c.leave()
		return false
	}
	return true
}

// leave takes back enter.
func (c *Conn) leave() {
	if c.calls.Add(-1) == 0 && c.leaving.Load() {
		c.pool.mu.Lock()
		defer c.pool.mu.Unlock()
		c.endUnused()
	}
}

// endUnused ends a connection that takes no more calls when there is none left. The pool is locked.
func (c *Conn) endUnused() {
	if c.calls.Load() == 0 {
		c.end()
	}
}

// Hold is Conn for a caller who is going to use the connection: until release is called it does not end, whatever is reloaded.
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

// Shared is the connection that serves all, until release is called; nil where there is no such server or it
// is disabled.
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

// sharedOf is the connection of a server that serves all; nil: there is none. In an eager pool it is always the one that the server
// began with.
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

// Each calls do with every connection of the present servers.
func (f *Pool) Each(do func(up *upstream.Upstream)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.roster.Load().servers {
		for _, c := range s.conns {
			do(c.up)
		}
	}
}
