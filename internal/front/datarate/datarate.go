package datarate

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ErrTooSlow is why reading a body failed whose client sent too little of it for too long.
var ErrTooSlow = errors.New("the body comes too slowly")

// Limits say how slow a client may be. A zero field means its default.
type Limits struct {
	// Pause is how long a client may send nothing in the middle of its body, or take nothing of its answer; 0: 30 s.
	Pause time.Duration
	// DrainPause is how long once the program stops; 0: 5 s.
	DrainPause time.Duration
	// BytesPerSecond is how fast a body must come on average once Pause has passed; 0: 1 KiB.
	BytesPerSecond int
}

const (
	defaultPause      = 30 * time.Second
	defaultDrainPause = 5 * time.Second
	defaultRate       = 1 << 10
)

// Guard holds the limits for all requests of a server.
type Guard struct {
	limits Limits
	pause  atomic.Int64 // in force now

	mu   sync.Mutex
	open exchange // head of the ring of those under way; guarded by mu
}

// New makes a Guard.
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

// Handler holds the limits for a handler.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.Serve(w, r.WithContext(r.Context()), next.ServeHTTP) })
}

// Serve is Handler for a request that is the caller's own copy: net/http knows the body that it gave by its type, and this
// one gets another.
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

// Drain shortens the pause, also of those who are in one: nobody holds up the end of the program by not reading.
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
