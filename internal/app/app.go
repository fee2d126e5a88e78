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
	"secateur/internal/store/clock"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
)

// Options make an App.
type Options struct {
	Config  *config.Config
	Version string
	Commit  string       // that the program was built from; "": not recorded
	Log     *slog.Logger // nil discards
	Environ []string     // what children may inherit of; the minimal base is taken from it
	Home    string       // what ~ stands for in store.url

	// StateDir is where tokens and the like of this user are kept; "": nowhere.
	StateDir string

	// StoreGiven makes the pruner alone use the configured store, even where the file names none.
	StoreGiven bool

	// Lazy starts servers when a client needs them, with that client's capabilities, instead of at once.
	Lazy bool

	// Names are what the client of a pipe asks its tools and prompts to be called.
	Names catalog.ClientSettings
	// ToolMode is how it asks to learn of tools: list or search; "": as its profile says.
	ToolMode string

	// Kill is closed when Run, once told to stop, is to wait for nobody any more: what is in flight is cut off, and servers
	// are ended by force, with all that they have started. Nil: never.
	Kill <-chan struct{}

	// Load reads the configuration again; nil: it cannot be reloaded. Hangups asks for a reload with each value, and so does the
	// configuration's file when it changes, unless the configuration says otherwise.
	Load    func() (*config.Config, []config.Problem)
	Hangups <-chan os.Signal
	Level   *slog.LevelVar    // of Log; nil: it stays as it is
	Format  *telemetry.Format // the same

	// Listening is called once the doors are open; nil: nobody wants to know.
	Listening func(addr net.Addr)
	// Starting is called then, and now and again, as long as servers are still starting; Started once, when each has
	// come up, or shown that it cannot or takes long. Nil: nobody wants to know.
	Starting func(ids []string, since time.Duration)
	Started  func([]ServerStart)
}

// App is the whole program, built and not yet running.
type App struct {
	opt         Options
	cfg         config.Settings // what the program was started with: the listener and the store are its
	log         *slog.Logger
	registry    *prometheus.Registry
	store       originals.StoreCloser
	redis       *redisdb.DB    // nil: the store is this process's, or on its disk
	replicas    *replica.Group // the same
	limitStore  *limit.Redis   // the same
	servers     *pool.Pool     // those inside this program included; nil: the pruner is alone
	budget      *budget.Budget
	connections *connections
	aggregate   *aggregate.Server // nil as long as no door for MCP clients is open
	mcp         *downstream.HTTP  // the same, over HTTP
	guesses     *guesses
	closers     []io.Closer     // closed when all else is done
	rates       *datarate.Guard // one for all requests
	tasks       *tasks.Owners   // one for all doors
	feed        *events.Feed
	pins        *pins.Book
	sources     tokenSources
	signIns     signIns
	sessions    ui.Sessions // of the dashboard
	captured    capture.Book
	history     *history.History   // nil: the pruner alone
	tracing     *telemetry.Tracing // nil: off
	tools       *telemetry.ToolLabels
	savings     *telemetry.Savings // nil: the pruner alone
	reloaded    *telemetry.Reloads
	draining    atomic.Bool
	clock       clock.Clock // by which it is judged whether a provider's cache is cold
	editor      *serverEditor
	ledger      *ledger.Ledger
	templates   *templates.Book
	stopping    chan struct{} // closed when the listener is about to
	started     time.Time
	addr        atomic.Pointer[string] // that is listened on; nil: none yet

	web atomic.Pointer[http.Server] // serves the listener; nil: there is none

	loaded    atomic.Pointer[loaded]     // the configuration that was last applied
	live      atomic.Pointer[generation] // what it asks for
	reloading sync.Mutex                 // held while another takes its place
}

// New builds the program. It opens the store and starts nothing.
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

// newApp is an App without its live parts.
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

// placeStore decides where a store is kept that the configuration does not place: in the user's state directory, so
// that a restart changes nothing. A pipe's store ends with it.
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
		opt.MaxBytes = min(opt.MaxBytes, memory/2-forConnections(memory)) // a store that takes it all ends with the process
	}
	if !strings.HasPrefix(opt.URL, "file:") && a.redis == nil {
		if opt.Key, err = a.idKey(); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	store, err := originals.Open(opt)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return store, nil
}

// idKey is what ids of originals in memory are made with: the same after a restart, where there is a state directory that can be written.
func (a *App) idKey() (originals.Key, error) {
	if a.opt.StateDir == "" || os.MkdirAll(a.opt.StateDir, 0o700) != nil {
		return originals.NewKey(), nil //nolint:nilerr // as if there were none
	}
	key, _, err := originals.LoadKey(a.opt.StateDir, false)
	if errors.Is(err, fs.ErrPermission) {
		return originals.NewKey(), nil
	}
	return key, err
}

// OriginalID is what the store calls a text of callers without a tenant.
func (a *App) OriginalID(text string) string { return a.store.ID("", text) }

func (a *App) storeOptions() originals.Options {
	return originals.Options{Settings: a.cfg.Store, Base: a.opt.Config.Dir(), Home: a.opt.Home, Log: a.log, Redis: a.redis, Shared: a.namesTenants}
}

// namesTenants reports whether several tenants may come, so that each has its share of the store.
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
		state.State = "full"
	}
	return state
}

// close lets go of what New opened.
func (a *App) close() error {
	var errs []error
	gen := a.live.Load()
	if gen != nil && gen.chat != nil {
		errs = append(errs, gen.chat.Close()) // what it writes down needs the others
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

// Run opens the doors and works until ctx is done; then it finishes what is in flight and takes everything down.
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
	// The servers outlive the doors: what is in flight needs them until it is answered.
	serverCtx, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServers()
	var back errgroup.Group
	back.Go(func() error { return a.servers.Run(serverCtx) })
	back.Go(func() error { return a.followLogins(serverCtx) })
	back.Go(func() error { return a.followPins(serverCtx) })
	a.announce(serverCtx, ln, &back)
	err = a.serve(ctx, a, ln, a.closeMCP)
	stopServers()
	return errors.Join(err, a.waitForServers(ctx, &back), a.close())
}

// drainTime is how long what is in flight may take to finish once the program is asked to stop, beyond the time a
// server has for its answer.
const drainTime = 5 * time.Second

// lastWords is how long requests that were cut off may take to say so.
const lastWords = 2 * time.Second

// newServer serves HTTP within bounds: nobody holds a connection by a header that does not come, or by not using it.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          newErrorLog(log),
	}
}

// serve answers HTTP until ctx is done and what is in flight then is finished. Stopping ends what would otherwise never
// finish; nil: there is nothing of the kind.
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
		_ = web.Shutdown(last) // who has not ended by then is cut off
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
