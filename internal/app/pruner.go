package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/ops/admin"
	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"
)

// Pruner is the standalone pruner: its own listener or pipe, and nothing else of the program.
type Pruner struct {
	app *App
	gen *generation
}

// NewPruner builds the standalone pruner. Without a configured store, originals are in memory for
// prune_id_ttl_s.
func NewPruner(opt Options) (*Pruner, error) {
	a := newApp(opt)
	var err error
	if !opt.StoreGiven && !opt.Config.Given("store") {
		key, err := a.idKey()
		if err != nil {
			return nil, err
		}
		a.store = originals.WithReports(&originals.Memory{
			Key: key, MaxBytes: a.cfg.Store.MaxBytes, TTL: a.cfg.Pruner.PruneIDTTL, DropOldest: a.cfg.Store.WhenFull == originals.WhenFullOldest,
			Shared: a.namesTenants,
		}, a.log)
	} else if a.store, err = a.openStore(); err != nil {
		return nil, err
	}
	a.openBudget()
	cfg := a.cfg
	cfg.Pruner.Enabled = true // even if the file disables it as a server
	g, err := a.newGeneration(cfg, nil)
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	a.live.Store(g)
	return &Pruner{a, g}, nil
}

// Run serves POST /rpc and GET /health until ctx is done.
func (p *Pruner) Run(ctx context.Context) error {
	s := p.app.cfg.Pruner
	addr := net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	if err := p.gen.checkListen(addr); err != nil {
		return errors.Join(err, p.app.close())
	}
	ln, err := listen(ctx, addr, "MCP_PRUNER_PORT")
	if err != nil {
		return errors.Join(err, p.app.close())
	}
	g := p.gen.guard(s.Host)
	mux := newRouter()
	hangPruner(mux, g, p.gen.pruner)
	mux.Handle("GET /healthz", g.open(admin.Health{}.Alive))
	mux.Handle("/", g.open(notFound("POST /rpc, GET /health and GET /healthz")))
	return errors.Join(p.app.serve(ctx, p.gen.withCORS(mux), ln, nil), p.app.close())
}

// RunStdio serves a pipe until it ends or ctx is done.
func (p *Pruner) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return errors.Join(p.gen.pruner.ServeStdio(ctx, in, out), p.app.close())
}

// Prune prunes a text for a person or a pipe.
func (p *Pruner) Prune(ctx context.Context, cmd pruner.PruneCommand) error {
	return errors.Join(p.gen.pruner.RunPrune(ctx, cmd), p.app.close())
}

// hangPruner registers the pruner's routes.
func hangPruner(mux *router, g guard, p *pruner.Server) {
	mux.Handle("/rpc", g.shut(rpchttp.Refuse, g.watch(access.DoorPruner, p.ServeRPC)))
	mux.Handle("/health", g.shut(plainRefusal, plain(http.HandlerFunc(p.ServeHealth))))
}

// openPruner makes the pruner, if it is enabled.
func (gen *generation) openPruner(before *generation) error {
	gen.lastPruner = before.lastPruner
	if !gen.cfg.Pruner.Enabled {
		return nil
	}
	if err := gen.openRerank(before); err != nil {
		return err
	}
	var err error
	gen.pruner, err = pruner.New(pruner.Options{
		Replaces:        gen.lastPruner,
		Recovered:       gen.recovered,
		Pruned:          gen.textPruned,
		Settings:        gen.cfg.Pruner,
		Originals:       gen.store,
		Rerank:          gen.scorer.score,
		Version:         gen.opt.Version,
		Now:             time.Now,
		Admission:       gen.admission,
		MaxMessageBytes: gen.cfg.MaxMessageBytes,
		Log:             gen.log,
		Metrics:         gen.registry,
	})
	gen.lastPruner = gen.pruner
	return err
}
