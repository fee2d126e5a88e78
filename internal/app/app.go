package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/access/pins"
	"secateur/internal/config"
	"secateur/internal/front/budget"
	"secateur/internal/front/datarate"
	"secateur/internal/mcp/aggregate"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/templates"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/capture"
	"secateur/internal/ops/events"
	"secateur/internal/ops/replica"
	"secateur/internal/ops/telemetry"
	"secateur/internal/ops/ui"
	"secateur/internal/secret"
	"secateur/internal/store/clock"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
)

// Options configure an App.
type Options struct {
	Config  *config.Config
	Version string
	Commit  string       // the commit it was built from; "": not recorded
	Log     *slog.Logger // nil discards
	Environ []string     // environment for child processes; the minimal base is taken from it
	Home    string       // replaces ~ in store.url

	// StateDir holds this user's tokens and other state; "": none.
	StateDir string

	// StoreGiven makes the standalone pruner use the configured store, even if the file names none.
	StoreGiven bool

	// Lazy starts servers when a client needs them, with that client's capabilities, instead of at
	// once.
	Lazy bool

	// Names are the names that the client of a pipe wants for its tools and prompts.
	Names catalog.ClientSettings
	// ToolMode is how it asks to learn of tools: list or search; "": as its profile says.
	ToolMode string

	// Kill is closed to make a stopping Run wait no longer. Requests in flight are cut off, and
	// servers are killed with all their child processes. Nil: never.
	Kill <-chan struct{}

	// Load reads the configuration again; nil: no reloads. Each value of Hangups triggers a reload.
	// A change of the configuration file does too, unless the configuration turns that off.
	Load    func() (*config.Config, []config.Problem)
	Hangups <-chan os.Signal
	Level   *slog.LevelVar    // level of Log; nil: fixed
	Format  *telemetry.Format // format of Log; nil: fixed

	// Listening is called once the doors are open; nil: none.
	Listening func(addr net.Addr)
	// Starting is called then, and from time to time, while servers are starting. Started is called
	// once, when each has come up, failed, or taken too long. Nil: none.
	Starting func(ids []string, since time.Duration)
	Started  func([]ServerStart)
}

// App is the whole program, built but not yet running.
type App struct {
	opt         Options
	cfg         config.Settings // settings at start; the listener and the store always use these
	log         *slog.Logger
	registry    *prometheus.Registry
	store       originals.StoreCloser
	redis       *redisdb.DB    // nil: the store is in this process or on its disk
	replicas    *replica.Group // nil: as redis
	limitStore  *limit.Redis   // nil: as redis
	servers     *pool.Pool     // includes built-in servers; nil: standalone pruner
	budget      *budget.Budget
	connections *connections
	aggregate   *aggregate.Server // nil while no MCP door is open
	mcp         *downstream.HTTP  // HTTP side of the MCP door; nil while not open
	guesses     *guesses
	closers     []io.Closer     // closed after everything else
	rates       *datarate.Guard // shared by all requests
	tasks       *tasks.Owners   // shared by all doors
	feed        *events.Feed
	pins        *pins.Book
	sources     tokenSources
	signIns     signIns
	sessions    ui.Sessions // of the dashboard
	captured    capture.Book
	history     *history.History   // nil: standalone pruner
	tracing     *telemetry.Tracing // nil: off
	tools       *telemetry.ToolLabels
	savings     *telemetry.Savings // nil: standalone pruner
	reloaded    *telemetry.Reloads
	draining    atomic.Bool
	clock       clock.Clock // decides whether a provider's cache is cold
	editor      *serverEditor
	ledger      *ledger.Ledger
	templates   *templates.Book
	stopping    chan struct{} // closed when the listener is about to close
	started     time.Time
	addr        atomic.Pointer[string] // address of the listener; nil: not listening yet

	web atomic.Pointer[http.Server] // serves the listener; nil: none

	loaded    atomic.Pointer[loaded]     // the configuration last applied
	live      atomic.Pointer[generation] // built from loaded
	reloading sync.Mutex                 // held while live is replaced
}

// New builds the program. It opens the store but starts nothing.
func New(opt Options) (*App, error) {
	a := newApp(opt)
	a.placeStore(context.Background())
	var err error
	if a.store, err = a.openStore(); err != nil {
		return nil, err
	}
	a.openBudget()
	a.tasks = a.openTasks()
	if err := a.openTelemetry(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	g, err := a.newGeneration(a.cfg, nil)
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	a.live.Store(g)
	if a.servers, err = g.newPool(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	a.tools.Listed(a.servers.HasTool)
	a.registry.MustRegister(newServerMetrics(a.servers.Status))
	return a, nil
}

// newApp returns an App without its live parts.
func newApp(opt Options) *App {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	feed := events.New()
	a := &App{
		opt: opt, cfg: opt.Config.Settings, log: telemetry.LogToEvents(opt.Log, feed), registry: telemetry.NewRegistry(opt.Version, opt.Commit), guesses: newGuesses(), started: time.Now(),
		rates: datarate.New(datarate.Limits{}), feed: feed, stopping: make(chan struct{}),
	}
	a.editor, a.ledger = &serverEditor{a: a}, &ledger.Ledger{}
	a.closers = append(a.closers, &a.signIns, &a.captured)
	a.pins = pins.NewBook(a.stateFile("pins"), a.log)
	a.templates = templates.Open(a.stateFile("templates"), a.log)
	a.loaded.Store(&loaded{Config: opt.Config, at: a.started, restartNeeded: []string{}})
	return a
}

// placeStore picks a place for the store if the configuration names none. The default is the user's
// state directory, so that a restart changes nothing. A pipe's store is in memory.
func (a *App) placeStore(ctx context.Context) {
	if a.cfg.Store.URL != "" {
		return
	}
	a.cfg.Store.URL = "memory:"
	if a.opt.Lazy {
		return
	}
	if a.opt.StateDir != "" {
		dir := filepath.Join(a.opt.StateDir, "store")
		probe, err := records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records")})
		if err == nil && probe != nil {
			a.cfg.Store.URL = "file:" + dir
			return
		}
		a.log.WarnContext(ctx, "the state directory cannot be written, the store is kept in memory", "dir", dir, "err", err)
		return
	}
	a.log.WarnContext(ctx, "there is no state directory, the store is kept in memory")
}

func (a *App) openStore() (_ originals.StoreCloser, err error) {
	if err := a.openRedis(context.Background()); err != nil {
		return nil, err
	}
	opt := a.storeOptions()
	if memory := budget.Memory(); memory > 0 && !strings.HasPrefix(opt.URL, "file:") && a.redis == nil {
		// A store that takes all memory would kill the process.
		opt.MaxBytes = min(opt.MaxBytes, memory/2-forConnections(memory))
	}
	if !strings.HasPrefix(opt.URL, "file:") && a.redis == nil {
		if opt.Key, err = a.idKey(); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	store, err := originals.Open(opt)
	if originals.IsDiskFull(err) {
		a.log.Warn("there is no room on the disk, the store is kept in memory until a restart", "url", secret.URL(opt.URL), "err", err, "hint", originals.Stats{DiskFull: true}.Hint())
		a.cfg.Store.URL = "memory:"
		return a.openStore()
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if a.opt.Lazy && a.opt.Config.Store.URL == "" && a.opt.StateDir != "" {
		return &besideDisk{StoreCloser: store, dir: filepath.Join(a.opt.StateDir, "store"), opt: opt}, nil
	}
	return store, nil
}

// idKey returns the key for ids of originals in memory. It survives a restart if the state
// directory can be written.
func (a *App) idKey() (originals.Key, error) {
	if a.opt.StateDir == "" || os.MkdirAll(a.opt.StateDir, 0o700) != nil {
		return originals.NewKey(), nil //nolint:nilerr // same as without a state directory
	}
	key, _, err := originals.LoadKey(a.opt.StateDir, false)
	if errors.Is(err, fs.ErrPermission) || originals.IsDiskFull(err) {
		return originals.NewKey(), nil
	}
	return key, err
}

// OriginalID returns the store's id for a text of callers without a tenant.
func (a *App) OriginalID(text string) string { return a.store.ID("", text) }

func (a *App) storeOptions() originals.Options {
	return originals.Options{Settings: a.cfg.Store, Base: a.opt.Config.Dir(), Home: a.opt.Home, Log: a.log, Redis: a.redis, Shared: a.namesTenants}
}

// namesTenants reports whether several tenants may call. Each then has its share of the store.
func (a *App) namesTenants() bool {
	if gen := a.live.Load(); gen != nil {
		return gen.auth.NamesTenants()
	}
	return a.cfg.Auth.NamesTenants() // while the store is being opened
}

func (a *App) storeState() admin.StoreState {
	s := a.store.Stats()
	state := admin.StoreState{
		State: "ok", Kind: s.Kind, Originals: s.Count, Bytes: s.Bytes, MaxBytes: s.MaxBytes, Refused: s.Refused, Dropped: s.Dropped,
	}
	switch {
	case s.Down:
		state.State = "unavailable"
	case s.Full:
		state.State, state.Hint = "full", s.Hint()
	}
	return state
}

// close releases what New opened.
func (a *App) close() error {
	var errs []error
	gen := a.live.Load()
	if gen != nil && gen.chat != nil {
		errs = append(errs, gen.chat.Close()) // its final writes need the other parts
	}
	errs = append(errs, a.store.Close())
	if gen != nil {
		errs = append(errs, gen.admission.Close())
	}
	for _, c := range a.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Run opens the doors and works until ctx is done. Then it finishes the requests in flight and
// shuts everything down.
func (a *App) Run(ctx context.Context) error {
	g := a.live.Load()
	if err := g.checkListen(a.cfg.Listen); err != nil {
		return errors.Join(err, a.close())
	}
	ln, err := listen(ctx, a.cfg.Listen, "--listen")
	if err != nil {
		return errors.Join(err, a.close())
	}
	addr := ln.Addr().String()
	a.addr.Store(&addr)
	if err := g.hang(&generation{}); err != nil {
		return errors.Join(err, ln.Close(), a.close())
	}
	// The servers outlive the doors: calls in flight need them until they are answered.
	serverCtx, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServers()
	var back errgroup.Group
	back.Go(func() error { return a.servers.Run(serverCtx) })
	back.Go(func() error { return a.followLogins(serverCtx) })
	back.Go(func() error { return a.followPins(serverCtx) })
	back.Go(func() error { return a.serveHooks(serverCtx) })
	a.announce(serverCtx, ln, &back)
	err = a.serve(ctx, a, ln, a.closeMCP)
	stopServers()
	return errors.Join(err, a.waitForServers(ctx, &back), a.close())
}

// drainTime is how long requests in flight may take after a stop, beyond the servers' response
// timeout.
const drainTime = 5 * time.Second

// lastWords is how long requests that were cut off may take to tell their clients.
const lastWords = 2 * time.Second

// newServer returns an HTTP server with timeouts for headers and for idle connections.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          newErrorLog(log),
	}
}

// serve answers HTTP until ctx is done and the requests in flight are finished. stopping ends the
// streams that would never finish by themselves; nil: none.
func (a *App) serve(ctx context.Context, h http.Handler, ln net.Listener, stopping func(context.Context)) error {
	defer a.limitHeap()()
	defer a.tuneCollector()()
	web := newServer(h, a.log)
	requests, cutOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cutOff(nil)
	web.BaseContext = func(net.Listener) context.Context { return requests }
	web.ConnState, web.ConnContext = changed, withConnection
	a.web.Store(web)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return a.serveOn(web, ln) })
	work.Go(func() error { return a.reloads(ctx) })
	work.Go(func() error { return auth.Follow(ctx, a.authenticator) })
	work.Go(func() error { return a.history.Run(ctx) })
	work.Go(func() error {
		<-ctx.Done()
		a.draining.Store(true)
		close(a.stopping)
		a.log.InfoContext(ctx, "stopping, finishing what is in flight", "servers", a.busyServers())
		drain, cancel := a.untilKilled(context.WithTimeout(context.WithoutCancel(ctx), a.live.Load().cfg.ResponseTimeout+drainTime))
		defer cancel()
		a.lameDuck(drain, ln)
		a.rates.Drain()
		if stopping != nil {
			work.Go(func() error {
				stopping(drain)
				return nil
			})
		}
		err := web.Shutdown(drain)
		if err == nil {
			return nil
		}
		cutOff(http.ErrServerClosed) // a stream ends with an event that says so
		last, cancelLast := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancelLast()
		_ = web.Shutdown(last) // the rest is cut off
		return errors.Join(cutShort(err), web.Close())
	})
	if a.opt.Listening != nil {
		a.opt.Listening(ln.Addr())
	}
	if a.opt.Started != nil {
		work.Go(func() error {
			a.watchStart(ctx)
			return nil
		})
	}
	return work.Wait()
}
