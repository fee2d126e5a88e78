package datarate

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ErrTooSlow means that a client sent its body too slowly.
var ErrTooSlow = errors.New("the body comes too slowly")

// Limits say how slow a client may be. A zero field means its default.
type Limits struct {
	// Pause is how long a client may send nothing of its body, or read nothing of its response; 0:
	// 30 s.
	Pause time.Duration
	// DrainPause replaces Pause while the program stops; 0: 5 s.
	DrainPause time.Duration
	// BytesPerSecond is the minimum average rate of a body once Pause has passed; 0: 1 KiB.
	BytesPerSecond int
}

const (
	defaultPause      = 30 * time.Second
	defaultDrainPause = 5 * time.Second
	defaultRate       = 1 << 10
)

// Guard enforces the limits for all requests of a server.
type Guard struct {
	limits Limits
	pause  atomic.Int64 // the current pause

	mu   sync.Mutex
	open exchange // head of the ring of running exchanges; guarded by mu
}

// New returns a Guard.
func New(l Limits) *Guard {
	if l.Pause <= 0 {
		l.Pause = defaultPause
	}
	if l.DrainPause <= 0 {
		l.DrainPause = defaultDrainPause
	}
	if l.BytesPerSecond <= 0 {
		l.BytesPerSecond = defaultRate
	}
	g := &Guard{limits: l}
	g.pause.Store(int64(l.Pause))
	g.open.next, g.open.prev = &g.open, &g.open
	return g
}

// Handler enforces the limits for a handler.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.Serve(w, r.WithContext(r.Context()), next.ServeHTTP) })
}

// Serve is Handler for a request that the caller owns: it replaces the body in place. net/http
// recognizes its own body by type, so it must not see the change.
func (g *Guard) Serve(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	isPlain := r.ProtoMajor == 1
	e := &exchange{guard: g, conn: connOf(w), drains: isPlain, lifts: !isPlain || r.TLS != nil}
	e.out = writer{ResponseWriter: w, exchange: e}
	if r.Body != nil && r.Body != http.NoBody {
		e.in, e.hasBody = body{ReadCloser: r.Body, exchange: e}, true
		r.Body = &e.in
	}
	g.enter(e)
	defer g.leave(e)
	next(&e.out, r)
	e.out.finish()
}

// Drain shortens the pause, also for running exchanges, so that no slow client delays the end of
// the program.
func (g *Guard) Drain() {
	g.pause.Store(int64(min(g.limits.DrainPause, g.limits.Pause)))
	g.mu.Lock()
	defer g.mu.Unlock()
	for e := g.open.next; e != &g.open; e = e.next {
		e.shorten()
	}
}

func (g *Guard) enter(e *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.next, e.prev = &g.open, g.open.prev
	e.prev.next, e.next.prev = e, e
}

func (g *Guard) leave(e *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.prev.next, e.next.prev = e.next, e.prev
}
