package pool

import (
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

// choice says which connection of a server serves a member. Exactly one of conn, wait, need and err
// is set.
type choice struct {
	conn  *Conn
	loose bool // conn is provisional until more is known

	wait <-chan struct{} // closed when the choice can be made
	need *need           // the connection must be built first
	err  error

	since time.Time // when a list started to wait for conn or wait
}

// choose selects the connection for a member; has is the connection of its lease, if any. The
// caller holds Pool.mu.
func (f *Pool) choose(s *server, m *Member, has *Conn) choice {
	switch {
	case s.plain():
		return choice{conn: s.shared}
	case s.settings.Isolation == upstream.IsolationPerSession && m.client.Session:
		return f.choosePrivate(s, m, has)
	}
	asksEra := m.client.Era == era.Modern && s.mayBeBoth()
	if asksEra && s.eras != nil && s.eras.over() && s.eras.modern {
		return s.chooseModern()
	}
	ch := f.chooseShared(s, m)
	if asksEra && ch.conn != nil {
		return f.chooseByEra(s, ch.conn)
	}
	ch.loose = asksEra
	return ch
}

// chooseShared selects the shared connection. In an eager pool it exists from the start and
// declares everything that can be served for any client. Otherwise it declares its clients'
// capabilities, and is replaced for a client with more.
func (f *Pool) chooseShared(s *server, m *Member) choice {
	c := s.shared
	if c == nil {
		return choice{need: &need{role: shared, caps: m.legacy()}}
	}
	if f.opt.Eager || c.speaks(era.Modern) || era.Covers(c.caps, m.legacy()) {
		return choice{conn: c}
	}
	caps := m.legacy()
	if c.users > 0 {
		if all := era.Union(c.caps, caps); len(all) <= maxCapabilities && era.Covers(all, caps) {
			caps = all
		}
	}
	return choice{need: &need{role: shared, caps: caps}}
}

// maxCapabilities limits the size of the declared capabilities in bytes. No client needs more.
const maxCapabilities = 16 << 10

// chooseByEra selects the connection for a modern client of a server that may speak both eras. It
// is the shared one, unless the server turns out to speak both.
func (f *Pool) chooseByEra(s *server, common *Conn) choice {
	switch {
	case common.speaks(era.Modern):
		return choice{conn: common}
	case !common.speaks(era.Legacy): // its era is known once it is up
		return choice{conn: common, loose: true}
	}
	check := f.checkedEras(s, common)
	if !check.over() {
		return choice{wait: check.done, since: check.began}
	}
	return choice{conn: common, loose: !check.sure}
}

// chooseModern selects the connection for modern clients of a server that speaks both eras.
func (s *server) chooseModern() choice {
	if s.modern == nil {
		return choice{need: &need{role: modern, protocol: upstream.ProtocolModern, caps: noCapabilities}}
	}
	return choice{conn: s.modern}
}

// choosePrivate selects a session's private connection, or describes the one to build. A modern
// session gets a modern connection if the server supports it. The first available connection is
// used to find out.
func (f *Pool) choosePrivate(s *server, m *Member, has *Conn) choice {
	n := need{role: private, caps: m.legacy(), owner: m.client.Owner}
	known := true
	if m.client.Era == era.Modern && s.mayBeBoth() {
		switch check := f.checkedOn(s, has); {
		case check == nil:
			known = false
		case !check.over():
			return choice{wait: check.done, since: check.began}
		case check.modern:
			n.protocol = upstream.ProtocolModern
		}
	}
	if has != nil && !has.over && (has.protocol == n.protocol || has.speaks(era.Modern)) {
		return choice{conn: has, loose: !known && !has.speaks(era.Modern)}
	}
	if err := f.makeRoom(s, n.owner); err != nil {
		return choice{err: err}
	}
	return choice{need: &n, loose: !known}
}

// checkedOn returns the era check of a server. It runs on the shared connection or on the session's
// private one; nil until one of them is up in the legacy era.
func (f *Pool) checkedOn(s *server, own *Conn) *eraCheck {
	for _, c := range []*Conn{s.shared, own} {
		if c != nil && c.speaks(era.Legacy) {
			return f.checkedEras(s, c)
		}
	}
	return s.eras
}

func (c *Conn) speaks(e era.Era) bool {
	p := c.peer.Load()
	return p != nil && p.Era == e
}
