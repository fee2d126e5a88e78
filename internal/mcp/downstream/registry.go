package downstream

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"secateur/internal/access"
)

// registry holds the open sessions by id.
type registry struct {
	max int

	mu      sync.Mutex
	idle    time.Duration // guarded by mu, like all below
	all     map[string]*httpSession
	peak    int          // the largest size of all so far
	share   access.Share // counts sessions per caller, including those not in all yet
	opening map[*httpSession]struct{}
	sweeper *time.Timer // runs while sessions exist
}

// newID returns an unguessable id.
func newID() string { return rand.Text() }

// reserve reserves a slot for a new session. It returns false if no slot is free, or none for this
// caller.
func (g *registry) reserve(p *access.Principal) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.share.Take(access.HolderOf(p), 1, int64(g.max))
}

// expect records the session for a reserved slot. It cannot be found by its id yet.
func (g *registry) expect(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opening[s] = struct{}{}
}

// cancel releases the slot of an expected session.
func (g *registry) cancel(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.opening, s)
	g.share.Give(access.HolderOf(s.owner), 1)
}

// add makes an expected session findable, unless it has ended.
func (g *registry) add(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.opening, s)
	if s.ctx.Err() != nil {
		g.share.Give(access.HolderOf(s.owner), 1)
		return
	}
	g.all[s.id] = s
	g.peak = max(g.peak, len(g.all))
	if g.sweeper == nil {
		g.sweeper = time.AfterFunc(g.interval(), g.sweep)
	}
}

func (g *registry) find(id string) *httpSession {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[id]
}

// remove forgets a session.
func (g *registry) remove(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all[s.id] == nil {
		return
	}
	delete(g.all, s.id)
	g.share.Give(access.HolderOf(s.owner), 1)
	if len(g.all) < g.peak/4 { // a map does not shrink by itself
		smaller := make(map[string]*httpSession, len(g.all))
		maps.Copy(smaller, g.all)
		g.all, g.peak = smaller, len(smaller)
	}
	if len(g.all) == 0 && g.sweeper != nil {
		g.sweeper.Stop()
		g.sweeper = nil
	}
}

// list returns all sessions, including those that cannot be found yet.
func (g *registry) list() []*httpSession {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]*httpSession, 0, len(g.all)+len(g.opening))
	for s := range g.opening {
		all = append(all, s)
	}
	for _, s := range g.all {
		all = append(all, s)
	}
	return all
}

func (g *registry) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.all)
}

// setIdle changes the idle timeout.
func (g *registry) setIdle(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle = d
	if g.sweeper != nil {
		g.sweeper.Reset(g.interval())
	}
}

// interval is the time between two sweeps for idle sessions. It is short enough that none stays
// much longer than allowed. The caller holds mu.
func (g *registry) interval() time.Duration { return min(g.idle/8+time.Millisecond, 10*time.Second) }

// One caller may keep at most maxResting sessions that were idle for 1/restShare of the idle
// timeout. Abandoned sessions hold processes of servers with per-session isolation.
const (
	maxResting = 64
	restShare  = 6
)

// sweep ends idle sessions and drops expired messages.
func (g *registry) sweep() {
	now := time.Now()
	g.mu.Lock()
	idle := g.idle
	g.mu.Unlock()
	resting := map[string][]*httpSession{} // by owner
	for _, s := range g.list() {
		s.sweep(now)
		s.closeIfIdle(now, idle)
		if s.rests(now) >= idle/restShare {
			key := s.owner.Key()
			resting[key] = append(resting[key], s)
		}
	}
	for _, all := range resting {
		if len(all) <= maxResting {
			continue
		}
		slices.SortFunc(all, func(a, b *httpSession) int { return cmp.Compare(b.rests(now), a.rests(now)) })
		for _, s := range all[:len(all)-maxResting] {
			s.closeIfIdle(now, idle/restShare)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sweeper != nil {
		g.sweeper.Reset(g.interval())
	}
}
