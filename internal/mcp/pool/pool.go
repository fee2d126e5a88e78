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

// What a member may be told instead of an answer.
var (
	// ErrUnknownServer means that there is no server of that id for the client; a disabled one is not there.
	ErrUnknownServer = errors.New("unknown server")
	// ErrUnknownLevel means that a log level is none of the eight.
	ErrUnknownLevel = errors.New("unknown log level")
	// ErrTooMany means that there are as many sessions' own connections or subscriptions as there may be.
	ErrTooMany = errors.New("too many")
	// ErrOver means that the member has left, or that the pool has stopped.
	ErrOver = errors.New("the session is over")
)

// Options are what a Pool is built from. Zero values mean the defaults named here.
type Options struct {
	Servers []upstream.Settings // in order; disabled ones are known and never used
	New     Builder
	Names   *catalog.Names // nil: the default ones

	Routes        routing.Settings // whom goes to what servers send of their own accord
	FirstListWait time.Duration    // how long lists wait for a server that has not been there yet; 0: not at all
	Linger        time.Duration    // how long a connection without users is kept; default 30 s
	Revisit       time.Duration    // how long after a client without a session, which may come again any time; default 10 min
	MaxPrivate    int              // sessions' own ones to a server; default 256
	MaxOfOwner    int              // of these, one caller's; default 64

	// Eager has Run start a connection to every server that has a start, which declares what can be served for any
	// client. Else one starts when a client needs it, and declares what that client can do.
	Eager bool
	Log   *slog.Logger // nil discards

	// Listed gets all that a server lists, before anybody else does; nil: nobody wants to know.
	Listed func(server string, l catalog.List, items [][]byte)
	// Changed hears that a list of a server is another than it was; it must neither wait nor call back. Nil: nobody wants to know.
	Changed func(server string, l catalog.List)
}

// Builder builds a connection to a server and starts nothing. It may be called by many goroutines.
type Builder func(s upstream.Settings, o Connection) (*upstream.Upstream, error)

// Connection is what distinguishes one connection to a server from another.
type Connection struct {
	Protocol     string // instead of the one in the settings where not ""
	Capabilities []byte // to declare
	Incoming     upstream.Handler
	Announced    func(method string)      // told of lists that have changed, see upstream.Options
	Refuses      func(method string) bool // requests of a method that are refused at once
	Opened       func(*upstream.Peer)
	Trial        bool // it is to find out whether the server speaks Protocol: that it does not is no failure
}

// Pool is all connections to all servers. Its methods may be used by many goroutines.
type Pool struct {
	opt    Options
	log    *slog.Logger
	roster atomic.Pointer[roster] // another one after Reload; stored with mu held

	jobs *background   // all connections
	over chan struct{} // closed when Run's context is done
	news chan struct{} // lists may have changed, or which connections serve whom

	joined atomic.Uint64 // counts members

	reloading sync.Mutex // held while Reload runs

	mu       sync.Mutex
	state    state
	version  uint64               // counts what catalogs depend on
	printed  uint64               // the newest snapshot's number
	watchers map[*Member]struct{} // those who have seen a catalog and listen
	hearing  map[*Member]struct{} // those who have an Observer
	merged   map[string]*merged   // catalogs, by what they are made of
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
	first, err := f.newRoster(Servers{Settings: opt.Servers, Names: opt.Names, FirstListWait: opt.FirstListWait, Routes: opt.Routes}, &roster{})
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

// startEager starts what a server has to start before anybody needs it. The pool is locked, or nobody knows it yet.
func (f *Pool) startEager(s *server) {
	if f.opt.Eager && !s.plain() { // a plain server has nothing to start, and gets no message that no client asked for
		f.start(s.first)
	}
}

// Run keeps the connections alive until ctx is done, and returns when none is left. It is run once.
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
			c.since = time.Now() // not when somebody first wished that we ran
		}
	}
	return true
}

// finish takes no more members and connections. What was never started is told that it is over.
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

// changed says that catalogs may be others now. The pool is locked.
func (f *Pool) changed() {
	f.version++
	signal(f.news)
}

// start has a connection run, from now on if Run does. The pool is locked, and not stopped.
func (f *Pool) start(c *Conn) {
	if c.wanted {
		return
	}
	c.wanted, c.since = true, time.Now()
	f.jobs.start(c.run)
}

// Names are how clients want names to look.
func (f *Pool) Names() *catalog.Names { return f.roster.Load().names }

// IDs are those of the servers that are not disabled, in order.
func (f *Pool) IDs() []string {
	servers := f.roster.Load().servers
	ids := make([]string, len(servers))
	for i, s := range servers {
		ids[i] = s.settings.ID
	}
	return ids
}

// DisabledIDs are those of the servers that the configuration has switched off.
func (f *Pool) DisabledIDs() (ids []string) {
	for _, s := range f.roster.Load().all {
		if s.settings.Disabled {
			ids = append(ids, s.settings.ID)
		}
	}
	return ids
}

// IsDisabled reports whether there is a server of that id which the configuration has switched off.
func (f *Pool) IsDisabled(id string) bool {
	return slices.ContainsFunc(f.roster.Load().all, func(s *server) bool { return s.settings.ID == id && s.settings.Disabled })
}
