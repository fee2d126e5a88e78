package pool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// Conn is a connection to a server. Members may share it. Its methods are safe for concurrent use.
type Conn struct {
	pool *Pool
	s    *server
	up   *upstream.Upstream
	need // what it was built for

	// what the server last reported about itself; nil: nothing yet
	peer    atomic.Pointer[upstream.Peer]
	said    atomic.Pointer[offers] // the part of peer about lists and logging
	jobs    *background
	release func()        // method value of leave, created once
	calls   atomic.Int64  // calls in flight or about to start
	used    atomic.Int64  // private: start or end of the last call, in nanoseconds since epoch
	ended   chan struct{} // closed to end the connection
	// leaving is set when a reload removes the server or the connection is evicted. The connection
	// then takes no new calls and ends with the last one. It is set with Pool.mu held.
	leaving atomic.Bool

	greeting singleflight
	caches   [listCount]listCache
	fanout   fanout
	leveling singleflight
	rooting  singleflight

	askedRoots atomic.Bool // the server has requested roots
	listens    listenStream

	// Guarded by Pool.mu.

	wanted bool // started, or will be when Run runs
	since  time.Time
	met    chan struct{} // closed when the server is first ready or first fails to start
	// closed when all lists are first known or the server first fails to start
	listed   chan struct{}
	stumbled error       // why the first start failed, even if the server came up later
	users    int         // number of members
	over     bool        // ended is closed
	gone     bool        // run has returned; no goroutine is left
	retired  bool        // takes no new members and ends with its last user
	idleFrom time.Time   // since when it has no users
	visited  time.Time   // when a client without a session last left
	reaper   *time.Timer // ends the connection after a long idle time; nil: not needed yet

	snapshot *snapshot // nil: nothing listed yet
	fresh    [listCount]freshness
}

const listCount = int(catalog.Prompts) + 1

// role is the purpose of a connection.
type role int

// The roles of connections.
const (
	shared  role = iota + 1 // for all clients, in the era that the server prefers
	modern                  // for modern clients of a server that speaks both eras
	private                 // for one session
)

// need describes a connection to build.
type need struct {
	role     role
	protocol string // "": from the settings
	caps     []byte // declared capabilities
	trial    bool   // see Connection.Trial
	owner    string // private: the session's owner
}

// meets reports whether a connection built for one need satisfies another. The clients' common
// capabilities may have changed meanwhile. A shared connection only has to cover this client's.
func (n need) meets(other need, caps []byte) bool {
	fits := bytes.Equal(n.caps, other.caps) || n.role == shared && era.Covers(n.caps, caps)
	return fits && n.role == other.role && n.protocol == other.protocol
}

var (
	// noCapabilities is for a client that declares none.
	noCapabilities = []byte(`{}`)
	// allCapabilities can be served for any client. Requests that a client does not support are
	// refused individually.
	allCapabilities = []byte(`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{}}}`)
)

// build creates a connection without starting it. It calls a foreign builder, so the caller must
// not hold Pool.mu.
func (f *Pool) build(s *server, n need) (*Conn, error) {
	return f.buildWith(cmp.Or(f.roster.Load().builder, &f.opt.New), s, n)
}

// buildWith is build with the given builder.
func (f *Pool) buildWith(builder *Builder, s *server, n need) (*Conn, error) {
	c := &Conn{
		pool: f, s: s, need: n, jobs: newBackground(),
		ended: make(chan struct{}), met: make(chan struct{}), listed: make(chan struct{}),
	}
	c.release = c.leave
	c.fanout.init()
	c.listens.init()
	for l := range c.caches {
		c.caches[l].list, c.caches[l].failed.First = catalog.List(l), time.Second
	}
	up, err := (*builder)(s.now(), Connection{
		Protocol: n.protocol, Capabilities: n.caps, Incoming: c, Announced: c.announced, Refuses: c.refuses, Opened: c.opened, Trial: n.trial,
	})
	if err != nil {
		return nil, fmt.Errorf("connection to server %q: %w", s.settings.ID, err)
	}
	c.up = up
	return c, nil
}

// Call sends a request and waits for its answer; see upstream.Upstream.CallWith.
func (c *Conn) Call(ctx context.Context, req *wire.Message, opt upstream.CallOptions) (*upstream.Reply, error) {
	if !opt.Own { // no caller waits for secateur's own requests, which may last forever
		c.calls.Add(1)
		defer c.leave()
		if c.role == private {
			c.touch()
			defer c.touch()
		}
	}
	if opt.Related != nil && len(c.pool.roster.Load().routes.Routes) > 0 {
		opt.Related = &routedCall{c, opt.Related, opt.Caller != nil}
	}
	return c.up.CallWith(ctx, req, opt)
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, n *wire.Message) error { return c.up.Notify(ctx, n) }

// Peer returns what the server reported about itself. It waits for a starting server.
func (c *Conn) Peer(ctx context.Context) (*upstream.Peer, error) { return c.up.Peer(ctx) }

// Era returns the connection's era; "": not known yet.
func (c *Conn) Era() era.Era {
	if p := c.peer.Load(); p != nil {
		return p.Era
	}
	return c.up.Status().Era
}

// ID returns the server's id.
func (c *Conn) ID() string { return c.s.settings.ID }

// Settings returns the server's settings.
func (c *Conn) Settings() upstream.Settings { return c.s.now() }

// run runs the connection from start to end.
func (c *Conn) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.jobs.start(func(ctx context.Context) {
		select {
		case <-c.ended:
			cancel()
		case <-ctx.Done():
		}
	})
	c.jobs.start(c.meet)
	c.jobs.start(func(ctx context.Context) { _ = c.up.Run(ctx) })
	c.jobs.run(ctx, func() {})
	for l := range c.caches {
		c.caches[l].stop()
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.gone = true
	closeOnce(c.met) // waiters must choose again
	closeOnce(c.listed)
}

// meet waits for the result of the first start. On success the upstream calls opened; a plain
// server has no start, so meet calls it.
func (c *Conn) meet(ctx context.Context) {
	peer, err := c.up.Peer(ctx)
	switch {
	case ctx.Err() != nil:
	case c.s.plain():
		c.opened(peer)
	case err != nil:
		c.failed(err)
	}
}

// opened records that the server is ready, for the first time or again. The upstream calls it. A
// plain server that reports nothing has a nil peer.
func (c *Conn) opened(peer *upstream.Peer) {
	said := offersOf(peer)
	c.fanout.restart()
	f := c.pool
	f.mu.Lock()
	c.said.Store(&said)
	c.peer.Store(peer) // under the lock, so that a choice sees a consistent state
	closeOnce(c.met)
	c.s.met.Store(true)
	c.s.opened(c, peer)
	f.changed()
	f.mu.Unlock()
	c.greeting.ask(c.jobs, c.greet)
}

// failed records that the first start failed.
func (c *Conn) failed(err error) {
	f := c.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.peer.Load() != nil {
		return // it has come up since
	}
	c.stumbled = err
	closeOnce(c.met)
	c.s.met.Store(true)
	closeOnce(c.listed)
	c.s.failed(c)
	f.changed()
}

// closeOnce closes a channel unless it is already closed. The caller holds the channel's lock.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// greet does the work needed whenever the server becomes ready.
func (c *Conn) greet(ctx context.Context) {
	peer := c.peer.Load()
	offers := c.offers()
	if peer != nil && peer.Era == era.Modern {
		c.listenFirst(ctx)
	} else {
		c.setLevel()
		c.resubscribe()
	}
	var fetched []<-chan struct{}
	for l := range c.caches {
		if listCache := &c.caches[l]; offers.list(listCache.list) {
			fetched = append(fetched, listCache.fetch(c))
		} else {
			c.publish(listCache.list, page{})
		}
	}
	for _, done := range fetched {
		<-done
	}
	if ctx.Err() == nil {
		c.pool.mu.Lock()
		closeOnce(c.listed)
		if c.role != private && c.snapshot != nil {
			c.s.last = c.snapshot
			c.s.listed.Store(true)
		}
		c.pool.changed()
		c.pool.mu.Unlock()
	}
}

// offers returns what the server last declared.
func (c *Conn) offers() offers {
	if said := c.said.Load(); said != nil {
		return *said
	}
	return offers{unknown: true}
}

// isUp reports whether the server is ready or degraded.
func (c *Conn) isUp() bool {
	state := c.up.Status().State
	return state == upstream.Ready || state == upstream.Degraded
}

// end ends the connection. The caller holds Pool.mu.
func (c *Conn) end() {
	if c.over {
		return
	}
	c.over = true
	close(c.ended)
	if c.reaper != nil {
		c.reaper.Stop()
	}
	c.s.forget(c)
}
