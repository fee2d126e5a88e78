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

// server is one server with its connections. Settings, alone and first are immutable; the rest is
// guarded by Pool.mu.
type server struct {
	settings upstream.Settings
	// current settings, if they differ in fields that do not affect the process; nil: they do not
	soft  atomic.Pointer[upstream.Settings]
	alone []*server // the server itself, for members that see no other
	// the first shared connection; nil: the server is disabled
	first *Conn

	// for all clients without a private one; nil: ended, or the server is disabled
	shared  *Conn
	modern  *Conn     // for modern clients of a server that speaks both eras; nil: not needed yet
	conns   []*Conn   // all that are not over
	private int       // number of private ones among conns
	eras    *eraCheck // whether it also speaks the modern era; nil: not asked yet
	info    []byte    // serverInfo, as last reported
	last    *snapshot // last lists on a connection for all; nil: none yet
	retired bool      // a reload has removed or replaced it

	// Not guarded.

	met    atomic.Bool // it was up on some connection, or failed to start
	listed atomic.Bool // last is complete
}

// plain reports whether the server takes each message separately, without connections.
func (s *server) plain() bool { return s.settings.Transport == upstream.TransportRPC }

func (s *server) startupTimeout() time.Duration {
	if set := s.now(); set.StartupTimeout > 0 {
		return set.StartupTimeout
	}
	return upstream.DefaultStartupTimeout
}

// now returns the server's current settings.
func (s *server) now() upstream.Settings {
	if set := s.soft.Load(); set != nil {
		return *set
	}
	return s.settings
}

// install adds a connection that was built for the server.
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

// forget removes a connection that is over.
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

// opened records what the server reported on a connection.
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
		s.eras = nil // it was not up when it was asked
	}
}

// becameAnother discards what was found out about a server that has changed its identity.
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

// failed records that a connection's first start failed. A separate modern connection is then given
// up, because many servers can run only once.
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

// serverInfo returns a server's raw serverInfo.
func serverInfo(p *upstream.Peer) []byte {
	var said struct {
		ServerInfo jsontext.Value `json:"serverInfo"`
	}
	if json.Unmarshal(p.InitializeResult(), &said, lenient()) != nil {
		return []byte(`null`)
	}
	return said.ServerInfo
}

// lenient returns the options for reading server messages: only the parts that we use are checked.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
