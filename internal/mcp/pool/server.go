package pool

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/upstream"
)

// server is one of the servers, with its connections. Settings, alone and first do not change, the rest is guarded by Pool.mu.
type server struct {
	settings upstream.Settings
	soft     atomic.Pointer[upstream.Settings] // as they are now where they differ in what does not concern the process; nil: they do not
	alone    []*server                         // the server itself, for who sees no other
	first    *Conn                             // the shared connection that it began with; nil: the server is disabled

	shared  *Conn     // for all who have none of their own; nil: there is none any more, or the server is disabled
	modern  *Conn     // for modern clients of a server that speaks both eras; nil: nobody has needed it
	conns   []*Conn   // all that are not over
	private int       // how many of these are sessions' own
	eras    *eraCheck // whether it speaks the modern era beside the legacy one; nil: not asked yet
	info    []byte    // serverInfo, as it last gave it
	last    *snapshot // what it last listed on a connection for all; nil: nothing yet
	retired bool      // a reload has taken it out, or put another in its place

	// Not guarded.

	met    atomic.Bool // it was there on some connection, or failed to be
	listed atomic.Bool // last has all lists
}

// plain reports whether the server takes each message for itself, without connections.
func (s *server) plain() bool { return s.settings.Transport == upstream.TransportRPC }

func (s *server) startupTimeout() time.Duration {
	if set := s.now(); set.StartupTimeout > 0 {
		return set.StartupTimeout
	}
	return upstream.DefaultStartupTimeout
}

// now are the server's settings as they were last set.
func (s *server) now() upstream.Settings {
	if set := s.soft.Load(); set != nil {
		return *set
	}
	return s.settings
}

// install takes in a connection that was built for it.
func (s *server) install(c *Conn) {
	s.conns = append(s.conns, c)
	switch c.role {
	case shared:
		if s.shared != nil {
			s.shared.retire()
		}
		s.shared = c
	case private:
		s.private++
	case modern:
		s.modern = c
	}
}

// forget takes out a connection that is over.
func (s *server) forget(c *Conn) {
	if i := slices.Index(s.conns, c); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
		if c.role == private {
			s.private--
		}
	}
	if s.shared == c {
		s.shared = nil
	}
	if s.modern == c {
		s.modern = nil
	}
}

// opened takes in what the server said about itself on a connection.
func (s *server) opened(c *Conn, peer *upstream.Peer) {
	if peer == nil || c.role == modern {
		return
	}
	info := serverInfo(peer)
	if s.info != nil && !bytes.Equal(info, s.info) {
		s.becameAnother()
	}
	s.info = info
	if s.eras != nil && s.eras.over() && !s.eras.modern && !s.eras.sure {
		s.eras = nil // it was not there when it was asked
	}
}

// becameAnother forgets what was found out about a server that is not the same any more.
func (s *server) becameAnother() {
	if s.eras == nil || !s.eras.over() {
		return
	}
	if s.modern != nil {
		s.modern.retire()
		s.modern = nil
	}
	s.eras = nil
}

// failed takes in that a connection's first start did not work. One of the modern era, beside another that works, is
// given up: many a server can run only once.
func (s *server) failed(c *Conn) {
	if c.role == modern && s.modern == c {
		s.eras = newEraCheck()
		s.eras.sure = true
		close(s.eras.done)
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
