package pool

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/upstream"
)

// server is one of the servers, with its connections. Settings and base do not change, the rest is guarded by Pool.mu.
type server struct {
	settings upstream.Settings
	base     *Conn // nil: it is disabled

	conns   []*Conn          // all that are not over, beside base
	shared  []*Conn          // of these, those for legacy clients
	private int              // how many of these are sessions' own
	chosen  map[string]*Conn // which of shared serves which capabilities
	probe   *probe           // whether it speaks the modern era beside the legacy one; nil: not known
	info    []byte           // serverInfo, as it last gave it to base or shared
	alone   time.Time        // until then no more connections are tried: it runs once only
	last    *snapshot        // what it last listed on a connection for all; nil: nothing yet
}

// aloneFor is how long a server that would not start a second time is not asked to.
const aloneFor = 5 * time.Minute

// plain reports whether the server takes each message for itself, without connections.
func (s *server) plain() bool { return s.settings.Transport == upstream.TransportRPC }

// mayBeBoth reports whether the server may speak the modern era beside the legacy one.
func (s *server) mayBeBoth() bool {
	auto := s.settings.Protocol == "" || s.settings.Protocol == upstream.ProtocolAuto
	return auto && s.settings.Transport != upstream.TransportSSE
}

func (s *server) startupTimeout() time.Duration {
	if s.settings.StartupTimeout <= 0 {
		return upstream.DefaultStartupTimeout
	}
	return time.Duration(s.settings.StartupTimeout * float64(time.Second))
}

// install takes in a connection that was built for it.
func (s *server) install(c *Conn) {
	s.conns = append(s.conns, c)
	switch c.role {
	case shared:
		s.shared = append(s.shared, c)
		clear(s.chosen)
	case private:
		s.private++
	case modern:
		s.probe.conn = c
	}
}

// forget takes out a connection that is over.
func (s *server) forget(c *Conn) {
	is := func(other *Conn) bool { return other == c }
	if i := slices.IndexFunc(s.conns, is); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
		if c.role == private {
			s.private--
		}
	}
	s.shared = slices.DeleteFunc(s.shared, is)
	clear(s.chosen)
}

// opened takes in what the server said about itself on a connection.
func (s *server) opened(c *Conn, peer *upstream.Peer) {
	if peer == nil || c.role == modern || c.role == private {
		return
	}
	info := serverInfo(peer)
	if s.info != nil && !bytes.Equal(info, s.info) {
		s.becameAnother()
	}
	s.info = info
	if s.probe != nil {
		s.probe.reconsider(s, c)
	}
}

// becameAnother forgets what was found out about a server that is not the same any more.
func (s *server) becameAnother() {
	s.alone = time.Time{}
	if s.probe == nil || !s.probe.over() {
		return
	}
	if c := s.probe.conn; c != nil {
		c.retire()
	}
	s.probe = nil
}

// failed takes in that a connection's first start did not work. One that is there in addition to another which works
// is given up: many a server can run only once.
func (s *server) failed(c *Conn) {
	switch {
	case c.role == shared && s.base.isUp():
		s.alone = time.Now().Add(aloneFor)
		c.end()
	case c.role == modern && s.probe != nil && s.probe.conn == c:
		s.probe = nil
		c.end()
	}
}

// retire keeps new members away from a connection, and ends it when the last one has left.
func (c *Conn) retire() {
	c.retired = true
	if c.users == 0 {
		c.end()
	}
}

// serverInfo is how a server calls itself, raw.
func serverInfo(p *upstream.Peer) []byte {
	var said struct {
		ServerInfo jsontext.Value `json:"serverInfo"`
	}
	if json.Unmarshal(p.InitializeResult(), &said, lenient()) != nil {
		return []byte(`null`)
	}
	return said.ServerInfo
}

// lenient reads what servers send: nothing is judged but what we use.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
