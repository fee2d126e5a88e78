package pool

import (
	"context"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
)

// lease is a member's use of a connection to one server.
type lease struct {
	server  *server
	conn    *Conn    // nil: none yet
	loose   bool     // a better one may be available soon
	leveled bool     // the server knows the member's log level
	uris    []string // resources subscribed to on the server that this one replaced
}

// lease returns the member's lease on a server; nil: none. The caller holds Pool.mu.
func (m *Member) lease(s *server) *lease {
	for i := range m.leases {
		if m.leases[i].server == s {
			return &m.leases[i]
		}
	}
	return nil
}

// connTo returns the member's connection to a server; nil: none. The caller holds Pool.mu.
func (m *Member) connTo(s *server) *Conn {
	if at := m.lease(s); at != nil {
		return at.conn
	}
	return nil
}

// acquire returns the member's connection to a server, if it can be chosen now; else the choice
// says what to wait for. It starts the connection if needed and counts the member as a user.
func (m *Member) acquire(s *server) choice {
	f := m.pool
	var built *Conn
	for {
		ch := m.tryAcquire(s, built)
		if ch.need == nil {
			return ch
		}
		c, err := f.build(s, *ch.need)
		if err != nil {
			return choice{err: err}
		}
		built = c
	}
}

// tryAcquire is acquire with a connection that may have been built for it. If another one is
// needed, the choice says so.
func (m *Member) tryAcquire(s *server, built *Conn) choice {
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.left || f.state == stopped {
		return choice{err: ErrOver}
	}
	if s.retired {
		return choice{err: errMoved}
	}
	at := m.lease(s)
	if at == nil {
		m.leases = append(m.leases, lease{server: s})
		at = &m.leases[len(m.leases)-1]
	}
	if at.conn != nil && !at.loose && !at.conn.over {
		return choice{conn: at.conn, since: at.conn.since}
	}
	ch := f.choose(s, m, at.conn)
	if ch.need != nil {
		if built == nil || !built.meets(*ch.need, m.legacy()) {
			return ch
		}
		s.install(built)
		ch = choice{conn: built, loose: ch.loose}
	}
	if ch.conn != nil {
		f.attach(m, at, ch)
		ch.since = ch.conn.since
	}
	return ch
}

// attach moves a member to the chosen connection. The caller holds Pool.mu.
func (f *Pool) attach(m *Member, at *lease, ch choice) {
	at.loose = ch.loose
	f.start(ch.conn)
	if at.conn == ch.conn {
		return
	}
	uris := at.uris
	if at.conn != nil {
		uris = f.detach(m, at)
	}
	at.conn, at.leveled, at.uris = ch.conn, false, nil
	at.conn.users++
	at.conn.fanout.add(m, uris)
	if len(m.roots) > 0 {
		at.conn.rootsChanged()
	}
	if len(uris) > 0 {
		at.conn.resubscribe()
	}
	if m.level.Load() != 0 {
		at.conn.setLevel()
	}
	if _, watches := f.watchers[m]; watches {
		f.changed()
	}
}

// detach removes a member from its connection and returns its subscribed resources. The caller
// holds Pool.mu.
func (f *Pool) detach(m *Member, at *lease) []string {
	c := at.conn
	at.conn = nil
	uris := c.fanout.remove(m)
	c.users--
	if len(m.roots) > 0 && c.users > 0 {
		c.rootsChanged()
	}
	if !m.client.Session {
		c.visited = time.Now()
	}
	if len(uris) > 0 {
		c.resubscribe()
	}
	if m.level.Load() != 0 {
		c.setLevel()
	}
	if c.users == 0 {
		f.idled(c)
	}
	return uris
}

// idled ends a connection without users, or schedules its end. The caller holds Pool.mu.
func (f *Pool) idled(c *Conn) {
	if c.users > 0 || c.over {
		return
	}
	c.idleFrom = time.Now()
	switch {
	case c.role == shared && f.opt.Eager && !c.retired:
	case c.role == private || c.retired:
		c.end()
	case c.reaper == nil:
		c.reaper = time.AfterFunc(f.lingers(c), func() { f.reap(c) })
	}
}

// lingers returns how much longer a connection without users is kept. The caller holds Pool.mu.
func (f *Pool) lingers(c *Conn) time.Duration {
	left := f.opt.Linger - time.Since(c.idleFrom)
	if !c.visited.IsZero() {
		left = max(left, f.opt.Revisit-time.Since(c.visited))
	}
	return left
}

// reap ends a connection that has been without users for long enough.
func (f *Pool) reap(c *Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := f.lingers(c)
	switch {
	case c.over:
	case c.users > 0:
		c.reaper = nil
	case left > 0:
		c.reaper.Reset(left)
	case c.calls.Load() > 0: // of a caller that left without waiting for it
		c.reaper.Reset(f.opt.Linger)
	default:
		c.end()
	}
}

// ready returns a channel that is closed when waiting for a server can end. c is nil if no
// connection is chosen yet. A nil channel is never ready.
type ready func(m *Member, s *server, c *Conn) <-chan struct{}

// reached is ready when the server was first up or first failed to start.
func (m *Member) reached(_ *server, c *Conn) <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.met
}

// listed is ready when the server's lists are known: on this connection or, unless it is private,
// on another.
func (m *Member) listed(s *server, c *Conn) <-chan struct{} {
	if s.listed.Load() && (c == nil || c.role != private) {
		return closed
	}
	if c == nil {
		return nil
	}
	return c.listed
}

// closed is a closed channel.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// gather acquires connections to all the member's servers and waits until each is ready. The wait
// for a server ends limit after its start began, or after the member joined if that was earlier.
func (m *Member) gather(ctx context.Context, limit func(*server) time.Duration, ready ready) {
	var missing []*server
	for _, s := range m.servers() {
		if ch := m.acquire(s); ch.err == nil && !isClosed(ready(m, s, ch.conn)) {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return
	}
	// better some tools now than all of them too late
	if patience := time.Duration(catalog.Patience(m.client.Name)) * time.Second; patience > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, patience-onTheWay)
		defer done()
	}
	m.awaitAll(ctx, missing, limit, ready)
}

// onTheWay is the part of a client's patience reserved for the rest of its request.
const onTheWay = time.Second

// awaitAll is gather for the servers that are not ready.
func (m *Member) awaitAll(ctx context.Context, missing []*server, limit func(*server) time.Duration, ready ready) {
	var waits sync.WaitGroup
	for _, s := range missing {
		waits.Go(func() { m.await(ctx, s, limit(s), ready) })
	}
	waits.Wait()
}

// await is gather for one server.
func (m *Member) await(ctx context.Context, s *server, limit time.Duration, ready ready) {
	for {
		ch := m.acquire(s)
		if ch.err != nil {
			return
		}
		done := ready(m, s, ch.conn)
		if isClosed(done) {
			return
		}
		if ch.conn == nil {
			done = ch.wait
		}
		began := ch.since
		if m.joined.Before(began) {
			began = m.joined // everything that a new client waits for ends together
		}
		left := limit - time.Since(began)
		if left <= 0 || !m.pause(ctx, left, done) {
			return
		}
	}
}

// pause waits for done; false if something else came first.
func (m *Member) pause(ctx context.Context, limit time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
	case <-ctx.Done():
	case <-m.pool.over:
	}
	return false
}
