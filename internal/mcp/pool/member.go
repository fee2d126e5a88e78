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

// Client is what the pool has to know about a client.
type Client struct {
	Era          era.Era
	Name         string // what it calls itself; "": nothing is known of it
	Capabilities []byte // as era.NormalCapabilities gives them; nil: none
	Session      bool   // it lasts: a server with per-session isolation gets a connection for it alone
	Only         string // the id of the one server it sees; "": all
	Owner        string // whose client it is; so many connections of sessions' own are one caller's at most

	Subject func() string // who it is now, for rows of the table that name principals; nil: nobody
}

// Observer is what a member hears. Its methods are called from goroutines of the pool, at the same time too, and should
// return soon. One that has begun may still be running when Leave returns.
type Observer interface {
	// ListChanged says that a list is another than Catalog gave. It is told to members that have asked for a catalog; a
	// member that sees one server alone is told whenever that server says so.
	// Resources stands for templates too, which have no notification of their own.
	ListChanged(l catalog.List)
	// Notified brings a log message, news of a resource that the member subscribed to, or what the pool does not know.
	Notified(server string, n *wire.Message)
	// Requested answers a server's request that belongs to no call of anybody, with a whole response. It comes to a
	// member that is the only one on its connection, if its capabilities allow it. It may take its time.
	Requested(ctx context.Context, server string, req *wire.Message) []byte
}

// Member is a client of the pool, from Join to Leave. Its methods may be used by many goroutines.
type Member struct {
	pool     *Pool
	client   Client
	observer Observer
	number   uint64 // members that came later have higher ones
	joined   time.Time
	level    atomic.Int64 // from which level on it hears log messages; 0: it has not said

	rootsCame chan struct{} // closed when rootsKnown is set

	// Guarded by Pool.mu.

	left       bool
	leases     []lease          // on connections of the servers that were asked for
	legacyCaps []byte           // what of its capabilities legacy servers understand; nil: not worked out yet
	seen       *catalog.Catalog // what it was given, or told that it has become; nil: nothing yet
	roots      []root
	rootsKnown bool                 // the client has said which they are
	passed     [listCount]time.Time // when it last heard from its one server that a list changed
}

// Join takes a client in. It is cheap and starts nothing. Without an observer the member hears nothing.
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

// servers are those that the member sees now.
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

// legacy are the member's capabilities as far as legacy servers understand them. The pool is locked.
func (m *Member) legacy() []byte {
	if m.legacyCaps == nil {
		m.legacyCaps = noCapabilities
		if len(m.client.Capabilities) <= maxCapabilities {
			m.legacyCaps = era.ForLegacy(m.client.Capabilities)
		}
	}
	return m.legacyCaps
}

// Leave ends the membership: subscriptions are dropped, and connections for this member alone end. More than once is
// once.
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

// Conn is the connection to a server for this member. It waits for one that is starting; that the server cannot be
// reached is left for a call to say. It is to be asked for each time: the next one may be another. The error is
// ErrUnknownServer, ErrTooMany, ErrOver, ctx's own, or the builder's.
func (m *Member) Conn(ctx context.Context, server string) (*Conn, error) {
	for {
		s, err := m.find(server)
		if err != nil {
			return nil, err
		}
		ch := m.acquire(s)
		if errors.Is(ch.err, errMoved) {
			continue // a reload has put another in its place
		}
		if ch.err != nil {
			return nil, ch.err
		}
		done := ch.wait
		if ch.conn != nil {
			if isClosed(ch.conn.met) && isClosed(ch.conn.ended) {
				continue // it failed, and another will do
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

// leveled makes sure that a server knows the level that the member chose before it had the connection.
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

// at is the connection to a server, nil if there is none yet.
func (m *Member) at(s *server) *Conn {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return m.connTo(s)
}

// Conns are the connections that the member has, to the servers that it has asked for something.
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

// Peer is what a server said about itself.
type Peer struct {
	Server string
	Peer   *upstream.Peer // nil: it is not there (yet)
	Err    error          // why it is not
}

// errNotYet is why a server has not said anything.
var errNotYet = errors.New("it is still starting")

// greetingTime is how long after a server was first started Peers still waits for it.
const greetingTime = 1500 * time.Millisecond

// Peers are what the member's servers say about themselves, in order, as far as it is known: only a server that is just
// being started for the first time is waited for, greetingTime at most. What one said before it went down still counts,
// and what it said to others where it has not been asked for this member yet.
func (m *Member) Peers(ctx context.Context) []Peer {
	m.gather(ctx, greetingTime, func(m *Member, s *server, c *Conn) <-chan struct{} {
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

// peer is what the server says about itself: on this connection, or else on another. The pool is locked.
func (s *server) peer(own *Conn) Peer {
	p := Peer{Server: s.settings.ID, Err: errNotYet}
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
