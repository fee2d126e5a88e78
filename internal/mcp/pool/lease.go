package pool

import (
	"context"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
)

// lease is a member's place on a connection of one server.
type lease struct {
	server  *server
	conn    *Conn    // nil: none yet
	loose   bool     // another may be better soon
	leveled bool     // the server knows which log messages the member wants
	uris    []string // resources subscribed to on the server that this one took the place of
}

// lease is the member's on a server, nil if it has none. The pool is locked.
func (m *Member) lease(s *server) *lease {
	for i := range m.leases {
		if m.leases[i].server == s {
			return &m.leases[i]
		}
	}
	return nil
}

// connTo is the member's connection to a server, nil if it has none. The pool is locked.
func (m *Member) connTo(s *server) *Conn {
	if at := m.lease(s); at != nil {
		return at.conn
	}
	return nil
}

// acquire is the connection for the member to a server, as far as that can be told now; else the choice says what
// to wait for. It is started if it is not, and the member counts among its users from now on.
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

// tryAcquire is acquire with a connection that may have been built for it. Where another one is needed, the choice says so.
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

// attach moves a member to the chosen connection. The pool is locked.
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

// detach takes a member off its connection and returns the resources it had subscribed to. The pool is locked.
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

// idled sees to the end of a connection that has no users. The pool is locked.
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

// lingers is how long a connection without users is still kept. The pool is locked.
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
	case c.calls.Load() > 0: // of one who left without waiting for it
		c.reaper.Reset(f.opt.Linger)
	default:
		c.end()
	}
}

// ready is closed when there is nothing to wait for at a server any more. The connection is nil as long as
// none is chosen; what is nil then never is.
type ready func(m *Member, s *server, c *Conn) <-chan struct{}

// reached is ready when the server was there for the first time, or first failed to be.
func (m *Member) reached(_ *server, c *Conn) <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.met
}

// listed is ready when the server's lists are known: on this connection, or, unless it is a session's own, on another.
func (m *Member) listed(s *server, c *Conn) <-chan struct{} {
	if s.listed.Load() && (c == nil || c.role != private) {
		return closed
	}
	if c == nil {
		return nil
	}
	return c.listed
}

// closed is a channel that is.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// gather takes the member to all its servers and waits until each is ready; for one that is not, until limit after it
// was begun to be started, or after the member has joined if that was before.
func (m *Member) gather(ctx context.Context, limit time.Duration, ready ready) {
	var missing []*server
	for _, s := range m.servers() {
		if ch := m.acquire(s); ch.err == nil && !isClosed(ready(m, s, ch.conn)) {
			missing = append(missing, s)
		}
	}
	if len(missing) == 0 {
		return
	}
	if patience := time.Duration(catalog.Patience(m.client.Name)) * time.Second; patience > 0 { // better some tools now than all of them too late
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, patience-onTheWay)
		defer done()
	}
	m.awaitAll(ctx, missing, limit, ready)
}

// onTheWay is what is left of a client's patience for the rest of its request.
const onTheWay = time.Second

// awaitAll is gather for those that are not ready.
func (m *Member) awaitAll(ctx context.Context, missing []*server, limit time.Duration, ready ready) {
	var waits sync.WaitGroup
	for _, s := range missing {
		waits.Go(func() { m.await(ctx, s, limit, ready) })
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
			began = m.joined // all that a client waits for when it comes ends together
		}
		left := limit - time.Since(began)
		if left <= 0 || !m.pause(ctx, left, done) {
			return
		}
	}
}

// pause waits for done, and returns false if something else came first.
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
