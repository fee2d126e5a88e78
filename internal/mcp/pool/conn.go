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

// Conn is a connection to a server. Members may share it; its methods may be used by many goroutines.
type Conn struct {
	pool *Pool
	s    *server
	up   *upstream.Upstream
	need // what it was built for

	peer    atomic.Pointer[upstream.Peer] // what the server last said about itself; nil: nothing yet
	said    atomic.Pointer[offers]        // the same, as far as it is about lists and logs
	jobs    *background
	release func()        // leave, made once
	calls   atomic.Int64  // calls under way, and who is about to make one
	used    atomic.Int64  // private: when a call last began or ended, in nanoseconds since epoch
	ended   chan struct{} // closed when the connection is to end
	// leaving says that a reload has taken the server out: the connection ends with the last of calls. Set with Pool.mu held.
	leaving atomic.Bool

	greeting singleflight
	caches   [listCount]listCache
	fanout   fanout
	leveling singleflight
	rooting  singleflight

	askedRoots atomic.Bool // the server has asked for roots
	listens    listenStream

	// Guarded by Pool.mu.

	wanted   bool // it is started, or will be as soon as Run runs
	since    time.Time
	met      chan struct{} // closed when the server was there for the first time, or first failed to be
	listed   chan struct{} // closed when its lists are there for the first time, or it first failed to be there
	stumbled error         // how it first failed to start, though it may have come up since
	users    int           // members
	over     bool          // ended is closed
	gone     bool          // run has returned: nothing is left of it
	retired  bool          // no more members; ends with its last user
	idleFrom time.Time     // since when there are no users
	visited  time.Time     // when a client without a session last left
	reaper   *time.Timer   // ends it when it has been idle for long; nil: nobody has left yet

	snapshot *snapshot // nil: it has not listed anything yet
	fresh    [listCount]freshness
}

const listCount = int(catalog.Prompts) + 1

// role is what a connection is for.
type role int

// The roles of connections.
const (
	shared  role = iota + 1 // for all; of the era that the server prefers
	modern                  // for modern clients of a server that speaks both eras
	private                 // for one session
)

// need is a connection that is to be built.
type need struct {
	role     role
	protocol string // "": the settings'
	caps     []byte // that it declares
	trial    bool   // see Connection.Trial
	owner    string // private: whose session it is
}

// meets reports whether a connection that was built for one need will do for another: what all clients have in common
// may have changed meanwhile, and a shared one must only have what this client needs.
func (n need) meets(other need, caps []byte) bool {
	fits := bytes.Equal(n.caps, other.caps) || n.role == shared && era.Covers(n.caps, caps)
	return fits && n.role == other.role && n.protocol == other.protocol
}

var (
	// noCapabilities are those of a client that declares none.
	noCapabilities = []byte(`{}`)
	// allCapabilities are those that can be served for anyone: what a client cannot do is refused for it alone.
	allCapabilities = []byte(`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{}}}`)
)

// build makes a connection and starts nothing. Its builder is not ours: the pool must not be locked.
func (f *Pool) build(s *server, n need) (*Conn, error) {
	return f.buildWith(cmp.Or(f.roster.Load().builder, &f.opt.New), s, n)
}

// buildWith is build with one of several builders.
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

// Call sends a request and waits for its answer, see upstream.Upstream.CallWith.
func (c *Conn) Call(ctx context.Context, req *wire.Message, opt upstream.CallOptions) (*upstream.Reply, error) {
	if !opt.Own { // no caller waits for what the program itself asks, which may be for ever
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

// Peer is what the server said about itself. It waits for a server that is starting.
func (c *Conn) Peer(ctx context.Context) (*upstream.Peer, error) { return c.up.Peer(ctx) }

// Era is the one in which the connection speaks; "" before Peer was there for the first time.
func (c *Conn) Era() era.Era {
	if p := c.peer.Load(); p != nil {
		return p.Era
	}
	return c.up.Status().Era
}

// ID is the server's id.
func (c *Conn) ID() string { return c.s.settings.ID }

// Settings are the server's.
func (c *Conn) Settings() upstream.Settings { return c.s.now() }

// run is the connection's life.
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
	closeOnce(c.met) // whoever still waits is to look again
	closeOnce(c.listed)
}

// meet waits for how the first start goes. That it went well is what opened is told; a plain server has no start.
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

// opened takes in that the server is there, for the first time or again. It is called by the upstream; a plain server
// that says nothing about itself has no peer.
func (c *Conn) opened(peer *upstream.Peer) {
	said := offersOf(peer)
	c.fanout.restart()
	f := c.pool
	f.mu.Lock()
	c.said.Store(&said)
	c.peer.Store(peer) // under the lock: a choice is not to see two different things
	closeOnce(c.met)
	c.s.met.Store(true)
	c.s.opened(c, peer)
	f.changed()
	f.mu.Unlock()
	c.greeting.ask(c.jobs, c.greet)
}

// failed takes in that the first start did not work.
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

// closeOnce closes a channel that has been closed or not. Its lock is held.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// greet does what is to be done whenever the server is there anew.
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

// offers are what the server last said it has.
func (c *Conn) offers() offers {
	if said := c.said.Load(); said != nil {
		return *said
	}
	return offers{unknown: true}
}

// isUp reports whether the server is there now.
func (c *Conn) isUp() bool {
	state := c.up.Status().State
	return state == upstream.Ready || state == upstream.Degraded
}

// end has the connection end. The pool is locked.
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
