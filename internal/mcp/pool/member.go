package pool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// Client is what the pool knows about a client.
type Client struct {
	Era          era.Era
	Name         string // the client's own name; "": unknown
	Capabilities []byte // as returned by era.NormalCapabilities; nil: none
	// it is a lasting session: a server with per-session isolation gets a private connection for it
	Session bool
	Only    string // id of the only server it sees; "": all
	Owner   string // the client's owner; private connections are limited per owner

	Subject func() string // current principal, for routes that name principals; nil: none
}

// Observer receives notifications for a member. Its methods are called concurrently from goroutines
// of the pool and should return soon. A call may still be running when Leave returns.
type Observer interface {
	// ListChanged reports that a list differs from the one that Catalog returned. Only members that
	// have requested a catalog get it. A member that sees one server gets every announcement of
	// that server. Resources includes templates, which have no notification of their own.
	ListChanged(l catalog.List)
	// Notified delivers a log message, an update of a subscribed resource, or a notification
	// unknown to the pool.
	Notified(server string, n *wire.Message)
	// Requested answers a server's request that belongs to no call, with a complete response. It is
	// called for a member that is alone on its connection or selected by a route, if its
	// capabilities allow. It may take its time.
	Requested(ctx context.Context, server string, req *wire.Message) []byte
}

// Member is a client of the pool, from Join to Leave. Its methods are safe for concurrent use.
type Member struct {
	pool     *Pool
	client   Client
	observer Observer
	number   uint64 // later members have higher numbers
	joined   time.Time
	level    atomic.Int64 // minimum level of log messages; 0: not chosen

	rootsCame chan struct{} // closed when rootsKnown is set

	// Guarded by Pool.mu.

	left   bool
	leases []lease // on connections of the servers requested so far
	// capabilities that legacy servers understand; nil: not computed yet
	legacyCaps []byte
	seen       *catalog.Catalog // the last catalog it got or was notified of; nil: none
	roots      []root
	rootsKnown bool                 // the client has reported its roots
	passed     [listCount]time.Time // when its only server last announced a change of the list
}

// Join adds a client. It is cheap and starts nothing. Without an observer the member gets no
// notifications.
func (f *Pool) Join(c Client, l Observer) *Member {
	if c.Capabilities == nil {
		c.Capabilities = noCapabilities
	}
	m := &Member{
		pool: f, client: c, observer: l,
		number: f.joined.Add(1), joined: time.Now(), rootsCame: make(chan struct{}),
	}
	if l != nil {
		f.mu.Lock()
		f.hearing[m] = struct{}{}
		f.mu.Unlock()
	}
	return m
}

// servers returns the servers that the member sees now.
func (m *Member) servers() []*server {
	r := m.pool.roster.Load()
	if m.client.Only == "" {
		return r.servers
	}
	if s := r.index[m.client.Only]; s != nil {
		return s.alone
	}
	return nil
}

// legacy returns the member's capabilities that legacy servers understand. The caller holds
// Pool.mu.
func (m *Member) legacy() []byte {
	if m.legacyCaps == nil {
		m.legacyCaps = noCapabilities
		if len(m.client.Capabilities) <= maxCapabilities {
			m.legacyCaps = era.ForLegacy(m.client.Capabilities)
		}
	}
	return m.legacyCaps
}

// Leave ends the membership. It drops the member's subscriptions and ends its private connections.
// Further calls do nothing.
func (m *Member) Leave() {
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.left {
		return
	}
	m.left = true
	delete(f.watchers, m)
	delete(f.hearing, m)
	for i := range m.leases {
		if at := &m.leases[i]; at.conn != nil {
			f.detach(m, at)
		}
	}
}

// Conn returns the member's connection to a server. It waits for one that is starting. It does not
// report an unreachable server; a call on the connection does. Ask for the connection before each
// use, because it may change. The error is ErrUnknownServer, ErrTooMany, ErrOver, ctx's own, or the
// builder's.
func (m *Member) Conn(ctx context.Context, server string) (*Conn, error) {
	for {
		s, err := m.find(server)
		if err != nil {
			return nil, err
		}
		ch := m.acquire(s)
		if errors.Is(ch.err, errMoved) {
			continue // a reload has replaced it
		}
		if ch.err != nil {
			return nil, ch.err
		}
		done := ch.wait
		if ch.conn != nil {
			if isClosed(ch.conn.met) && isClosed(ch.conn.ended) {
				continue // it failed; choose another
			}
			if isClosed(ch.conn.met) {
				return ch.conn, m.leveled(ctx, ch.conn)
			}
			done = ch.conn.met
		}
		if err := m.wait(ctx, done); err != nil {
			return nil, err
		}
	}
}

// leveled makes sure that a server knows the level that the member chose before it got the
// connection.
func (m *Member) leveled(ctx context.Context, c *Conn) error {
	if m.level.Load() == 0 {
		return nil
	}
	m.pool.mu.Lock()
	at := m.lease(c.s)
	told := at == nil || at.leveled
	if at != nil {
		at.leveled = true
	}
	m.pool.mu.Unlock()
	if told {
		return nil
	}
	return m.wait(ctx, c.setLevel())
}

// wait waits for done. The error is ErrOver or ctx's own.
func (m *Member) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-m.pool.over:
		return ErrOver
	}
}

func (m *Member) find(server string) (*server, error) {
	s := m.pool.roster.Load().index[server]
	if s == nil || m.client.Only != "" && m.client.Only != server {
		return nil, fmt.Errorf("%w: %q", ErrUnknownServer, server)
	}
	return s, nil
}

// at returns the connection to a server; nil: none yet.
func (m *Member) at(s *server) *Conn {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return m.connTo(s)
}

// Conns returns the member's connections to the servers it has used.
func (m *Member) Conns() (all []*Conn) {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	for i := range m.leases {
		if c := m.leases[i].conn; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// Peer is what a server reported about itself.
type Peer struct {
	Server string
	Peer   *upstream.Peer // nil: the server is not up (yet), or a plain one
	Err    error          // why it is not up
}

// errNotYet means that a server is still starting.
var errNotYet = errors.New("it is still starting")

// greetingTime is how long Peers waits for a server after its first start.
const greetingTime = 1500 * time.Millisecond

// Peers returns what the member's servers reported about themselves, in order. It waits only for
// servers that are starting for the first time, at most greetingTime. It includes the last report
// of a server that is down, and reports to other members.
func (m *Member) Peers(ctx context.Context) []Peer {
	m.gather(ctx, func(*server) time.Duration { return greetingTime }, func(m *Member, s *server, c *Conn) <-chan struct{} {
		if s.met.Load() {
			return closed
		}
		return m.reached(s, c)
	})
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	servers := m.servers()
	all := make([]Peer, len(servers))
	for i, s := range servers {
		all[i] = s.peer(m.connTo(s))
	}
	return all
}

// peer returns what the server reported on this connection, or else on another. The caller holds
// Pool.mu.
func (s *server) peer(own *Conn) Peer {
	p := Peer{Server: s.settings.ID, Err: errNotYet}
	if s.plain() {
		p.Err = nil // it has no handshake
	}
	conns := s.conns
	if own != nil {
		conns = append([]*Conn{own}, conns...)
	}
	for _, c := range conns {
		if p.Peer = c.peer.Load(); p.Peer != nil {
			p.Err = nil
			return p
		}
		if c.stumbled != nil && errors.Is(p.Err, errNotYet) {
			p.Err = c.stumbled
		}
	}
	return p
}
