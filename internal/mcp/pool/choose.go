package pool

import (
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

// choice is which connection of a server is for a member. One of conn, wait, need and err is set.
type choice struct {
	conn  *Conn
	loose bool // conn stands in until more is known

	wait <-chan struct{} // closed when it can be told
	need *need           // it has to be built first
	err  error

	since time.Time // from when on a list waits for conn or wait
}

// choose finds the connection for a member that has the one of a lease, if any. The pool is locked.
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

// chooseShared finds the connection for all. One that declares what can be served for anyone is there from the
// beginning. One that declares what its clients can do is replaced for a client who can do more.
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

// maxCapabilities bounds what is declared, in bytes: no client has more to say.
const maxCapabilities = 16 << 10

// chooseByEra finds the connection for a modern client of a server that may speak both eras: the shared one, unless it
// does.
func (f *Pool) chooseByEra(s *server, common *Conn) choice {
	switch {
	case common.speaks(era.Modern):
		return choice{conn: common}
	case !common.speaks(era.Legacy): // what it speaks will be seen when it is there
		return choice{conn: common, loose: true}
	}
	check := f.checkedEras(s, common)
	if !check.over() {
		return choice{wait: check.done, since: check.began}
	}
	return choice{conn: common, loose: !check.sure}
}

// chooseModern finds the connection for modern clients of a server that speaks both eras.
func (s *server) chooseModern() choice {
	if s.modern == nil {
		return choice{need: &need{role: modern, protocol: upstream.ProtocolModern, caps: noCapabilities}}
	}
	return choice{conn: s.modern}
}

// choosePrivate finds a session's own connection, or what it is to be. A modern session's is of the modern era where the
// server speaks it, which is asked on the first connection that there is.
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

// checkedOn is what is known of the eras of a server, asked on its shared connection or on a session's own; nil as long as
// neither is up in the legacy era.
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
