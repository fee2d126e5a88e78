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

// registry knows the open sessions by their ids.
type registry struct {
	max  int
	idle time.Duration

	mu      sync.Mutex
	all     map[string]*httpSession // guarded by mu, like all below
	peak    int                     // the most that all has held
	share   access.Share            // of sessions, those included that are not in all yet
	opening map[*httpSession]struct{}
	sweeper *time.Timer // runs while there are sessions
}

// newID makes an id that nobody can guess.
func newID() string { return rand.Text() }

// reserve takes a place for a session that a caller opens. It returns false if there is none, or none for this caller.
func (g *registry) reserve(p *access.Principal) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.share.Take(access.HolderOf(p), 1, int64(g.max))
}

// expect notes the session that is to have a place. Nobody can find it yet.
func (g *registry) expect(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opening[s] = struct{}{}
}

// cancel gives back the place of a session that was expected.
func (g *registry) cancel(s *httpSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.opening, s)
	g.share.Give(access.HolderOf(s.owner), 1)
}

// add puts a session that was expected into its place, unless it has ended.
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

// list is all sessions, those included that nobody can find yet.
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

// interval is how often is looked for what is over: often enough that nothing stays much longer than it should.
func (g *registry) interval() time.Duration { return min(g.idle/8+time.Millisecond, 10*time.Second) }

// Of one caller's sessions that nobody has used for a sixth of the idle time so many stay open. Abandoned ones hold
// processes, where a server has one for each session.
const (
	maxResting = 64
	restShare  = 6
)

// sweep ends the sessions that nobody uses, and drops what was kept long enough.
func (g *registry) sweep() {
	now := time.Now()
	resting := map[string][]*httpSession{} // by owner
	for _, s := range g.list() {
		s.sweep(now)
		s.closeIfIdle(now, g.idle)
		if s.rests(now) >= g.idle/restShare {
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
			s.closeIfIdle(now, g.idle/restShare)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sweeper != nil {
		g.sweeper.Reset(g.interval())
	}
}
