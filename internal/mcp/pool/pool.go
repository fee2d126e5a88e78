package pool

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/upstream"
)

// Errors returned to members.
var (
	// ErrUnknownServer means that the client has no server of that id, or the server is disabled.
	ErrUnknownServer = errors.New("unknown server")
	// ErrUnknownLevel means that a log level is not one of the eight.
	ErrUnknownLevel = errors.New("unknown log level")
	// ErrTooMany means that the limit of private connections or subscriptions is reached.
	ErrTooMany = errors.New("too many")
	// ErrOver means that the member has left or the pool has stopped.
	ErrOver = errors.New("the session is over")
)

// Options are the parts of a Pool. Zero values mean the defaults named here.
type Options struct {
	Servers []upstream.Settings // in order; disabled ones are listed but never used
	New     Builder
	Names   *catalog.Names // nil: the default ones

	Routes        routing.Settings // which sessions receive requests and notifications from servers
	FirstListWait time.Duration    // how long lists wait for a server's first start; 0: not at all
	// WaitForAll makes clients that read the lists once wait for a server's startup timeout, if
	// that is longer.
	WaitForAll bool
	Linger     time.Duration // how long an unused connection is kept; default 30 s
	// the same after a client without a session, which may return; default 10 min
	Revisit    time.Duration
	MaxPrivate int // private connections per server; default 256
	MaxOfOwner int // private connections per server and owner; default 64

	// Eager makes Run start a connection to every server except plain ones. It declares everything
	// that can be served for any client. Otherwise a connection starts when a client needs it and
	// declares that client's capabilities.
	Eager bool
	Log   *slog.Logger // nil discards

	// Listed gets every fetched list before anything else uses it; nil: not called.
	Listed func(server string, l catalog.List, items [][]byte)
	// Changed is called when a server's list has changed. It must neither block nor call back. Nil:
	// not called.
	Changed func(server string, l catalog.List)
}

// Builder builds a connection to a server and starts nothing. It must be safe for concurrent use.
type Builder func(s upstream.Settings, o Connection) (*upstream.Upstream, error)

// Connection holds the properties that distinguish connections to a server.
type Connection struct {
	Protocol     string // overrides the settings if not ""
	Capabilities []byte // capabilities to declare
	Incoming     upstream.Handler
	Announced    func(method string)      // called for changed lists; see upstream.Options
	Refuses      func(method string) bool // reports methods whose requests are refused immediately
	Opened       func(*upstream.Peer)
	// only tests whether the server speaks Protocol; a negative result is not a failure
	Trial bool
}

// Pool holds all connections to all servers. Its methods are safe for concurrent use.
type Pool struct {
	opt    Options
	log    *slog.Logger
	roster atomic.Pointer[roster] // replaced by Reload; stored with mu held

	jobs *background   // runs all connections
	over chan struct{} // closed when Run's context is done
	news chan struct{} // signals changed lists or changed assignments of connections

	joined atomic.Uint64 // number of members so far

	reloading sync.Mutex // held while Reload runs

	mu    sync.Mutex
	state state
	// guarded by mu like all below; counts changes that affect catalogs
	version  uint64
	printed  uint64               // number of the newest snapshot
	watchers map[*Member]struct{} // members that have seen a catalog and have an Observer
	hearing  map[*Member]struct{} // members that have an Observer
	merged   map[string]*merged   // catalogs, keyed by the snapshots they are built from
}

type state int

// The states of a Pool.
const (
	idle state = iota
	active
	stopped
)

// New builds a Pool and starts nothing.
func New(opt Options) (*Pool, error) {
	if opt.New == nil {
		return nil, errors.New("pool: New is missing")
	}
	opt = opt.withDefaults()
	f := &Pool{
		opt: opt, log: opt.Log,
		jobs: newBackground(), over: make(chan struct{}), news: make(chan struct{}, 1),
		watchers: map[*Member]struct{}{}, hearing: map[*Member]struct{}{}, merged: map[string]*merged{},
	}
	first, err := f.newRoster(Servers{Settings: opt.Servers, Names: opt.Names, FirstListWait: opt.FirstListWait, WaitForAll: opt.WaitForAll, Routes: opt.Routes}, &roster{})
	if err != nil {
		return nil, err
	}
	f.roster.Store(first)
	for _, s := range first.servers {
		f.startEager(s)
	}
	return f, nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Names == nil {
		o.Names = catalog.NewNames(catalog.Default())
	}
	if o.Linger <= 0 {
		o.Linger = 30 * time.Second
	}
	if o.Revisit <= 0 {
		o.Revisit = 10 * time.Minute
	}
	if o.MaxOfOwner <= 0 {
		o.MaxOfOwner = 64
	}
	if o.MaxPrivate <= 0 {
		o.MaxPrivate = 256
	}
	return o
}

// startEager starts a server's connection before it is needed. The caller holds Pool.mu, or the
// pool is not published yet.
func (f *Pool) startEager(s *server) {
	// a plain server has nothing to start and gets only clients' messages
	if f.opt.Eager && !s.plain() {
		f.start(s.first)
	}
}

// Run keeps the connections alive until ctx is done, and returns when none is left. It may be
// called once.
func (f *Pool) Run(ctx context.Context) error {
	if !f.begin() {
		return errors.New("pool: it has been run before")
	}
	f.jobs.start(f.announce)
	f.jobs.run(ctx, f.finish)
	return nil
}

func (f *Pool) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != idle {
		return false
	}
	f.state = active
	for _, s := range f.roster.Load().servers {
		for _, c := range s.conns {
			c.since = time.Now() // not when a client first wanted it
		}
	}
	return true
}

// finish stops accepting members and connections. Connections that were never started are ended
// too.
func (f *Pool) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.roster.Load().servers {
		for _, c := range s.conns {
			f.start(c)
		}
	}
	f.state = stopped
	close(f.over)
}

// changed signals that catalogs may have changed. The caller holds Pool.mu.
func (f *Pool) changed() {
	f.version++
	signal(f.news)
}

// start starts a connection, or schedules it until Run runs. The caller holds Pool.mu, and the pool
// is not stopped.
func (f *Pool) start(c *Conn) {
	if c.wanted {
		return
	}
	c.wanted, c.since = true, time.Now()
	f.jobs.start(c.run)
}

// Names returns the naming schemes of the clients.
func (f *Pool) Names() *catalog.Names { return f.roster.Load().names }

// IDs returns the ids of the enabled servers, in order.
func (f *Pool) IDs() []string {
	servers := f.roster.Load().servers
	ids := make([]string, len(servers))
	for i, s := range servers {
		ids[i] = s.settings.ID
	}
	return ids
}

// DisabledIDs returns the ids of the servers that are disabled or held.
func (f *Pool) DisabledIDs() (ids []string) {
	for _, s := range f.roster.Load().all {
		if s.settings.Off() {
			ids = append(ids, s.settings.ID)
		}
	}
	return ids
}

// IsDisabled reports whether the configuration has a disabled or held server of that id.
func (f *Pool) IsDisabled(id string) bool {
	return slices.ContainsFunc(f.roster.Load().all, func(s *server) bool { return s.settings.ID == id && s.settings.Off() })
}
