package pool

import (
	"context"
	"errors"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// ErrUnlisted means that a server says its list is another, or is there anew, and does not tell the list.
var ErrUnlisted = errors.New("its list could not be read")

// settleWait bounds how long a call waits for its server's list.
const settleWait = 10 * time.Second

// Settle waits until the list that a server has now, as far as it tells, has been read on the member's connection: since it was last there
// anew, since it last said that the list is another, and, where it does not say, within the time that a list is good for. A server that is not
// there, and a caller who has gone, are left for the call to say. The error is ErrUnlisted.
func (m *Member) Settle(ctx context.Context, server string, l catalog.List) error {
	c, err := m.Conn(ctx, server)
	if err != nil {
		return nil //nolint:nilerr // the call will say it
	}
	return c.settle(ctx, l)
}

// Settle is Member.Settle on the connection that serves all.
func (f *Pool) Settle(ctx context.Context, server string, l catalog.List) error {
	c := f.started(server)
	if c == nil {
		return nil
	}
	return c.settle(ctx, l)
}

// started is the connection of a server that serves all, nil: there is none. A plain server may not have been started yet.
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

// Lists reports whether a server lists a tool or prompt on the member's connection. If it did not, its list is read again first. A server
// that is not there, and a caller who has gone, are left for the call to say: the answer is true.
func (m *Member) Lists(ctx context.Context, server string, l catalog.List, name string) bool {
	c, err := m.Conn(ctx, server)
	return err != nil || c.lists(ctx, l, name)
}

// Lists is Member.Lists on the connection that serves all.
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

// edition tells one state of a server's list from the next.
type edition struct {
	peer *upstream.Peer // who was asked; nil: a plain server, or one that was not there
	told uint64
	run  uint64    // no two fetches have the same; 0: there was none
	at   time.Time // when it was asked for
	ttl  time.Duration
}

// edition is the one that a fetch gets which begins now.
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

// tell notes that the server has said that the list is another.
func (s *listCache) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told++
}

// take notes which edition has been taken in.
func (s *listCache) take(e edition, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.ttl = ttl
	s.taken = e
}

// settle waits until the newest edition of a list has been taken in.
func (c *Conn) settle(ctx context.Context, l catalog.List) error {
	s := &c.caches[l]
	var limit <-chan time.Time
	for {
		var peer *upstream.Peer
		if !c.s.plain() {
			var err error
			if peer, err = c.up.Peer(ctx); err != nil {
				return nil //nolint:nilerr // the call will say it
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

// offersNow are what a server offers that has said this about itself, of which c may not have been told yet.
func (c *Conn) offersNow(peer *upstream.Peer) offers {
	if peer == nil {
		return c.offers()
	}
	return offersOf(peer)
}

// hasNewest reports whether the last edition of a list that was taken in is the newest, of a server that said this about itself.
func (c *Conn) hasNewest(s *listCache, peer *upstream.Peer) bool {
	s.mu.Lock()
	taken, told := s.taken, s.told
	s.mu.Unlock()
	if taken.run == 0 || taken.peer != peer || taken.told != told {
		return false
	}
	return c.announces(c.offers(), s.list) || !freshness{at: taken.at, ttl: taken.ttl}.old(taken.at)
}

// lastTaken tells the edition that was last taken in from any other.
func (s *listCache) lastTaken() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken.run
}
