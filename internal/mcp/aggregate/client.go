package aggregate

import (
	"bytes"
	"context"
	"sync/atomic"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
)

// client is who sends a request: of a legacy session always the same, of the modern era as each request says.
type client struct {
	era          era.Era
	version      string                 // of the protocol
	capabilities []byte                 // canonical
	name         string                 // what it calls itself
	asked        catalog.ClientSettings // the names it asks for itself
	member       *pool.Member
	principal    *access.Principal // of the modern era: who sent the request
	feed         *clientFeed       // what a legacy client hears outside its calls; nil for modern ones

	logLevel string                 // modern: how much it wants to hear; "": nothing
	level    atomic.Pointer[string] // legacy: the same, nil where it has not said

	last atomic.Pointer[catalog.View] // of the lists that it was last given

	profile *catalog.ToolProfile        // legacy: how it learns of tools; nil: not settled
	frozen  atomic.Pointer[frozenTools] // legacy: the list that it was given, where it finds tools
}

// callsTasks reports whether the client can call tools as tasks of legacy servers. We declare that to
// clients of the revision that has them; tasks do not pass between eras.
func (c *client) callsTasks() bool { return c.era == era.Legacy && c.version >= firstWithTasks }

const firstWithTasks = "2025-11-25"

// view is how the client sees lists.
func (c *client) view(lists *catalog.Catalog) *catalog.View {
	v := c.last.Load()
	if v == nil || v.Catalog != lists {
		v = c.named(lists)
		c.last.Store(v)
	}
	return v
}

// named is lists with the names that the client wants.
func (c *client) named(lists *catalog.Catalog) *catalog.View { return lists.ForAsking(c.name, c.asked) }

// maxModern bounds the kinds of modern clients whose connections a clientConn keeps. Further ones
// keep theirs for the request.
const maxModern = 8

// clientOf finds out who sends a request. Leave is called when it is answered.
func (s *clientConn) clientOf(ctx context.Context, a request) (c *client, leave func(), failed *failure) {
	meta := a.meta
	if !a.isModern() {
		c = s.legacyClient()
		if a.Method != "ping" {
			c.feed.begin(ctx) // a client that asks is ready
		}
		return c, func() {}, nil
	}
	if failed := checkModern(a, meta); failed != nil {
		return nil, nil, failed
	}
	c = &client{
		era: era.Modern, version: meta.Version, name: meta.ClientName, logLevel: meta.LogLevel,
		capabilities: ownCapabilities(meta.Capabilities), principal: a.principal, asked: s.asked,
	}
	c.member, leave = s.modernMember(c)
	return c, leave, nil
}

// ownCapabilities are a client's in canonical form, to be kept longer than the request that they came in.
func ownCapabilities(raw []byte) []byte { return bytes.Clone(era.NormalCapabilities(raw)) }

// legacyClient is the one that said initialize. One that did not is taken as it comes, without capabilities.
func (s *clientConn) legacyClient() *client {
	s.mu.Lock()
	c := s.legacy
	s.mu.Unlock()
	if c != nil {
		return c
	}
	return s.become(&client{era: era.Legacy, version: era.LatestLegacy, capabilities: []byte("{}")}, false)
}

// become joins the servers as this client. A client that initializes again takes the place of the one before.
func (s *clientConn) become(c *client, replace bool) *client {
	c.feed = newClientFeed(s, c)
	c.asked = s.asked
	profile := s.profileOf(c, s.now.Load())
	c.profile = &profile
	c.member = s.opt.Pool.Join(pool.Client{
		Era: era.Legacy, Name: c.name, Capabilities: c.capabilities, Session: s.link != nil, Only: s.only, Owner: s.Principal().Key(), Subject: s.subject,
	}, c.feed)
	s.mu.Lock()
	old := s.legacy
	if old != nil && !replace || s.closed {
		s.mu.Unlock()
		c.member.Leave()
		if old != nil {
			return old
		}
		return c
	}
	s.legacy = c
	s.mu.Unlock()
	if old != nil {
		old.member.Leave()
	}
	return c
}

// modernMember joins the servers for a modern request: for itself alone or, on a connection, until that ends.
func (s *clientConn) modernMember(c *client) (m *pool.Member, leave func()) {
	join := func() *pool.Member {
		return s.opt.Pool.Join(pool.Client{
			Era: era.Modern, Name: c.name, Capabilities: c.capabilities, Session: s.link != nil, Only: s.only, Owner: c.principal.Key(),
		}, nil)
	}
	if s.link == nil {
		m = join()
		return m, m.Leave
	}
	key := string(c.capabilities)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.modern[key]; known != nil {
		return known.member, func() {}
	}
	m = join()
	if s.closed || len(s.modern) >= maxModern {
		return m, m.Leave
	}
	if s.modern == nil {
		s.modern = map[string]*client{}
	}
	s.modern[key] = &client{member: m}
	return m, func() {}
}

// servers are the ids of those that the client reaches.
func (s *clientConn) servers() []string {
	if s.only != "" {
		return []string{s.only}
	}
	return s.opt.Pool.IDs()
}

// known returns the lists that are there, without waiting.
func known(ctx context.Context, m *pool.Member) *catalog.Catalog {
	lists, _ := m.Catalog(over{ctx}) //nolint:contextcheck // it is ctx, and has ended
	return lists
}

// over is a context that is done, so that calls under it do not wait.
type over struct{ context.Context }

// closed is a channel that is.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (over) Done() <-chan struct{} { return closed }
func (over) Err() error            { return context.Canceled }
