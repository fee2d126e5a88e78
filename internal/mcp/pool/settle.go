package pool

import (
	"context"
	"errors"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// ErrUnlisted means that a server's list has changed or the server restarted, and the new list
// could not be read.
var ErrUnlisted = errors.New("its list could not be read")

// settleWait limits how long a call waits for its server's list.
const settleWait = 10 * time.Second

// Settle waits until the server's current list has been read on the member's connection. The list
// must be newer than the server's last start and its last announcement of a change. If the server
// announces none, it must not be expired. An unavailable server or a cancelled caller is not
// reported here; the call reports it. The error is ErrUnlisted.
func (m *Member) Settle(ctx context.Context, server string, l catalog.List) error {
	c, err := m.Conn(ctx, server)
	if err != nil {
		return nil //nolint:nilerr // the call reports it
	}
	return c.settle(ctx, l)
}

// Settle is Member.Settle on the shared connection.
func (f *Pool) Settle(ctx context.Context, server string, l catalog.List) error {
	c := f.started(server)
	if c == nil {
		return nil
	}
	return c.settle(ctx, l)
}

// started returns the shared connection of a server and starts it if needed, like that of a plain
// server; nil: none.
func (f *Pool) started(server string) *Conn {
	c := f.sharedOf(f.roster.Load().index[server])
	if c == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != stopped {
		f.start(c)
	}
	return c
}

// Lists reports whether a server lists a tool or prompt on the member's connection. If the known
// list lacks it, the list is fetched again first. If the server is unavailable or the caller
// cancelled, it returns true; the call reports the problem.
func (m *Member) Lists(ctx context.Context, server string, l catalog.List, name string) bool {
	c, err := m.Conn(ctx, server)
	return err != nil || c.lists(ctx, l, name)
}

// Lists is Member.Lists on the shared connection.
func (f *Pool) Lists(ctx context.Context, server string, l catalog.List, name string) bool {
	c := f.started(server)
	return c == nil || c.lists(ctx, l, name)
}

func (c *Conn) lists(ctx context.Context, l catalog.List, name string) bool {
	if c.hasListed(l, name) {
		return true
	}
	var peer *upstream.Peer
	if !c.s.plain() {
		var err error
		if peer, err = c.up.Peer(ctx); err != nil {
			return true
		}
	}
	if !c.offersNow(peer).list(l) {
		return false
	}
	limit := time.NewTimer(settleWait)
	defer limit.Stop()
	select {
	case <-c.caches[l].fetch(c):
	case <-limit.C:
	case <-ctx.Done():
		return true
	}
	return c.hasListed(l, name)
}

func (c *Conn) hasListed(l catalog.List, name string) bool {
	c.pool.mu.Lock()
	listed := c.snapshot
	c.pool.mu.Unlock()
	return listed.has(l, name)
}

// edition identifies one state of a server's list.
type edition struct {
	peer *upstream.Peer // the server asked; nil: a plain server, or one that was not up
	told uint64
	run  uint64    // unique per fetch; 0: never fetched
	at   time.Time // when it was requested
	ttl  time.Duration
}

// edition returns the edition for a fetch that begins now.
func (s *listCache) edition(ctx context.Context, c *Conn) edition {
	var peer *upstream.Peer
	if !c.s.plain() {
		peer, _ = c.up.Peer(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	return edition{peer: peer, told: s.told, run: s.runs, at: time.Now()}
}

// tell records that the server announced a change of the list.
func (s *listCache) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told++
}

// take records which edition was stored.
func (s *listCache) take(e edition, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.ttl = ttl
	s.taken = e
}

// settle waits until the newest edition of a list has been stored.
func (c *Conn) settle(ctx context.Context, l catalog.List) error {
	s := &c.caches[l]
	var limit <-chan time.Time
	for {
		var peer *upstream.Peer
		if !c.s.plain() {
			var err error
			if peer, err = c.up.Peer(ctx); err != nil {
				return nil //nolint:nilerr // the call reports it
			}
		}
		if c.hasNewest(s, peer) || !c.offersNow(peer).list(l) {
			return nil
		}
		if limit == nil {
			limit = time.After(settleWait)
		}
		before := s.lastTaken()
		select {
		case <-s.fetch(c):
		case <-limit:
			return ErrUnlisted
		case <-ctx.Done():
			return nil
		}
		if s.lastTaken() == before {
			return ErrUnlisted
		}
	}
}

// offersNow returns what a server with this peer offers, even if c has not recorded it yet.
func (c *Conn) offersNow(peer *upstream.Peer) offers {
	if peer == nil {
		return c.offers()
	}
	return offersOf(peer)
}

// hasNewest reports whether the last stored edition of a list is the newest, for a server with this
// peer.
func (c *Conn) hasNewest(s *listCache, peer *upstream.Peer) bool {
	s.mu.Lock()
	taken, told := s.taken, s.told
	s.mu.Unlock()
	if taken.run == 0 || taken.peer != peer || taken.told != told {
		return false
	}
	return c.announces(c.offers(), s.list) || !freshness{at: taken.at, ttl: taken.ttl}.old(taken.at)
}

// lastTaken returns the run number of the last stored edition.
func (s *listCache) lastTaken() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken.run
}
