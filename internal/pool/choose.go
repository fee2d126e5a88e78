package pool

import (
	"bytes"
	"time"

	"secateur/internal/era"
	"secateur/internal/upstream"
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

// choose finds the connection for a member. The pool is locked.
func (f *Pool) choose(s *server, m *Member) choice {
	switch {
	case s.plain():
		return choice{conn: s.base}
	case s.settings.Isolation == upstream.IsolationPerSession && m.client.Session:
		return f.choosePrivate(s, m)
	case s.settings.Protocol == upstream.ProtocolModern:
		return choice{conn: s.base}
	}
	if c := s.modernOnly(); c != nil {
		return choice{conn: c}
	}
	loose := false
	if m.client.Era == upstream.Modern && s.mayBeBoth() {
		ch, known := f.chooseModern(s)
		if !known {
			return ch
		}
		if ch.conn != nil || ch.need != nil {
			return ch
		}
		loose = ch.loose
	}
	ch := f.chooseLegacy(s, m.legacy())
	ch.loose = ch.loose || loose
	return ch
}

// modernOnly is a connection to a server that speaks no legacy era, where that has been seen. Capabilities are then
// told with each request, and one connection is enough for all.
func (s *server) modernOnly() *Conn {
	if s.base.speaks(upstream.Modern) {
		return s.base
	}
	for _, c := range s.shared {
		if c.speaks(upstream.Modern) {
			return c
		}
	}
	return nil
}

func (c *Conn) speaks(e upstream.Era) bool {
	p := c.peer.Load()
	return p != nil && p.Era == e
}

// baseFirst is what to do as long as it is not known what the base makes of the server: wait for it, or use it if it
// cannot be reached, since another connection could not reach the server either.
func (s *server) baseFirst() (ch choice, unknown bool) {
	b := s.base
	switch {
	case !b.wanted || b.peer.Load() != nil:
		return choice{}, false
	case b.stumbled != nil:
		return choice{conn: b, loose: true}, true
	}
	return choice{wait: b.met, since: b.since}, true
}

// chooseModern finds the connection for a modern client of a server that may speak both eras. Known is false as long
// as it is not known whether it does; if it is known and there is neither a connection nor the need for one, it does not.
func (f *Pool) chooseModern(s *server) (ch choice, known bool) {
	if ch, unknown := s.baseFirst(); unknown {
		return ch, false
	}
	if s.probe == nil {
		f.startProbe(s)
	}
	switch p := s.probe; {
	case !p.over():
		return choice{wait: p.done, since: p.began}, false
	case !p.modern:
		return choice{loose: !p.sure}, true
	case p.conn.over:
		return choice{need: &need{role: modern, protocol: upstream.ProtocolModern, caps: noCapabilities}}, true
	default:
		return choice{conn: p.conn}, true
	}
}

// chooseLegacy finds the connection for a client with these capabilities of a server that is spoken to in the legacy
// era: of those that declare them, the one that declares least.
func (f *Pool) chooseLegacy(s *server, caps []byte) choice {
	if bytes.Equal(caps, noCapabilities) {
		return choice{conn: s.base}
	}
	if c := s.covering(caps); c != nil {
		return choice{conn: c}
	}
	if ch, unknown := s.baseFirst(); unknown {
		return ch
	}
	if time.Now().Before(s.alone) || len(s.shared) >= f.opt.MaxConnections && !s.makeRoom() {
		return choice{conn: s.base}
	}
	return choice{need: &need{role: shared, caps: f.unionWith(caps)}}
}

const (
	maxCapabilities = 16 << 10 // no client has more to say
	maxChosen       = 256      // sets of capabilities that are remembered
)

func (s *server) covering(caps []byte) *Conn {
	if c := s.chosen[string(caps)]; c != nil {
		return c
	}
	var least *Conn
	for _, c := range s.shared {
		if (least == nil || len(c.caps) < len(least.caps)) && era.Covers(c.caps, caps) {
			least = c
		}
	}
	if least != nil {
		if s.chosen == nil || len(s.chosen) >= maxChosen {
			s.chosen = map[string]*Conn{}
		}
		s.chosen[string(caps)] = least
	}
	return least
}

// roomAfter is for how long a connection must have been idle to be ended for another: clients cannot make us start a
// process with each request.
const roomAfter = 5 * time.Second

// makeRoom ends a connection that nobody uses.
func (s *server) makeRoom() bool {
	for _, c := range s.shared {
		if c.users == 0 && c.calls.Load() == 0 && time.Since(c.idleFrom) >= roomAfter {
			c.end()
			return true
		}
	}
	return false
}

// unionWith are these capabilities and those of all legacy clients that are there, so that one connection serves them:
// as far as they agree, and within reason.
func (f *Pool) unionWith(caps []byte) []byte {
	all := era.NormalCapabilities(caps)
	for other := range f.present {
		if more := era.Union(all, []byte(other)); len(more) <= maxCapabilities && era.Covers(more, caps) {
			all = more
		}
	}
	return all
}

// choosePrivate finds out what a session's own connection is to be.
func (f *Pool) choosePrivate(s *server, m *Member) choice {
	n := need{role: private, caps: m.legacy()}
	if m.client.Era == upstream.Modern && s.mayBeBoth() && s.modernOnly() == nil {
		ch, known := f.chooseModern(s)
		switch {
		case !known && ch.wait != nil:
			return ch
		case known && (ch.conn != nil || ch.need != nil):
			n.protocol = upstream.ProtocolModern
		}
	}
	if s.private >= f.opt.MaxPrivate {
		return choice{err: ErrTooMany}
	}
	return choice{need: &n}
}
