package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"secateur/internal/config"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/child"
	"secateur/internal/mcp/demo"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/templates"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
)

// newPool makes the pool of the MCP servers behind the doors, including built-in ones.
func (gen *generation) newPool() (*pool.Pool, error) {
	set := gen.poolServers()
	return pool.New(pool.Options{
		Servers:       set.Settings,
		New:           set.New,
		Names:         set.Names,
		FirstListWait: set.FirstListWait,
		WaitForAll:    set.WaitForAll,
		Routes:        set.Routes,
		Eager:         !gen.opt.Lazy,
		Log:           gen.log,
		Listed: func(server string, l catalog.List, items [][]byte) {
			gen.live.Load().see(context.Background(), server, l, items, true)
		},
		Changed: gen.tellListChanged,
	})
}

// poolServers returns the servers in the pool's form.
func (gen *generation) poolServers() pool.Servers {
	return pool.Servers{
		Settings: gen.withOwn(allServers(gen.cfg)), New: gen.connect, Names: catalog.NewNames(gen.cfg.Naming), FirstListWait: gen.cfg.FirstListWait,
		WaitForAll: gen.cfg.WaitsForAll(), Routes: gen.cfg.Notifications,
	}
}

// allServers returns the configured servers and the pruner, which counts as one.
func allServers(cfg config.Settings) []upstream.Settings {
	if !cfg.Pruner.Enabled {
		return cfg.Servers
	}
	return append(slices.Clone(cfg.Servers), upstream.Settings{ID: config.PrunerID, Builtin: config.PrunerID})
}

// withOwn appends the program's own server if it hosts templates.
func (gen *generation) withOwn(servers []upstream.Settings) []upstream.Settings {
	if !gen.hosts {
		return servers
	}
	return append(slices.Clip(servers), ownServer())
}

// local returns the handler of a built-in server; nil: it is not built in.
func (gen *generation) local(set upstream.Settings) (upstream.Handler, error) {
	switch set.Builtin {
	case "":
		return nil, nil
	case config.PrunerID:
		return gen.pruner, nil
	case config.OwnID:
		return templates.NewServer(gen.templates, gen.opt.Version)
	}
	return demo.New(gen.opt.Version)
}

// connect builds one connection to a server.
func (gen *generation) connect(set upstream.Settings, c pool.Connection) (*upstream.Upstream, error) {
	if c.Protocol != "" {
		set.Protocol = c.Protocol
	}
	local, err := gen.local(set)
	if err != nil {
		return nil, err
	}
	log := gen.log
	if c.Trial {
		log = slog.New(calm{log.Handler()})
	}
	var changed func(upstream.Status)
	if !c.Trial {
		changed = gen.tellServer
	}
	opt := upstream.Options{
		Changed:         changed,
		Settings:        inHome(set, gen.opt.Home),
		Local:           local,
		Capabilities:    c.Capabilities,
		Incoming:        c.Incoming,
		Announced:       c.Announced,
		Refuses:         c.Refuses,
		Opened:          c.Opened,
		Log:             log,
		Kill:            gen.opt.Kill,
		Stderr:          gen.stderrOf(set.ID),
		BaseEnv:         child.BaseEnv(gen.opt.Environ, set.PassEnv...),
		Sandboxes:       gen.opt.sandboxes(),
		ResponseTimeout: gen.cfg.ResponseTimeout,
		Budget:          gen.budget,
		MaxMessageBytes: int(gen.cfg.MaxMessageBytes),
		LongString:      gen.cfg.ObservationMasking.Gateway.MaxChars,
		ClientVersion:   gen.opt.Version,
		HealthInterval:  gen.cfg.HealthcheckInterval,
		HealthTimeout:   gen.cfg.HealthcheckTimeout,
	}
	gen.signIn(&opt)
	up, err := upstream.New(opt)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", set.ID, err)
	}
	return up, nil
}

func (a *App) serverStates() (all []admin.ServerState) {
	for _, st := range a.servers.Status() {
		state := admin.ServerState{
			ID: st.ID, State: string(st.State), Restarts: st.Restarts, Error: presentError(st.Status),
			Tools: st.Tools, Resources: st.Resources, Templates: st.Templates, Prompts: st.Prompts, Problems: problemsOf(st),
		}
		all = append(all, state)
	}
	return all
}

// presentError returns why a server is unhealthy. Errors it has recovered from are left out.
func presentError(s upstream.Status) string {
	if s.State == upstream.Ready {
		return ""
	}
	return s.LastError
}

// sortedIDs returns the ids of callable servers, sorted for display.
func (a *App) sortedIDs() []string { return slices.Sorted(slices.Values(a.servers.IDs())) }

// calm lowers warnings to debug level for a connection that may well fail: only a try shows whether
// a server supports the modern era.
type calm struct{ slog.Handler }

func (h calm) Enabled(ctx context.Context, l slog.Level) bool {
	return l < slog.LevelWarn && h.Handler.Enabled(ctx, l) || h.Handler.Enabled(ctx, slog.LevelDebug)
}

func (h calm) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		r.Level = slog.LevelDebug
	}
	return h.Handler.Handle(ctx, r)
}

func (h calm) WithAttrs(attrs []slog.Attr) slog.Handler { return calm{h.Handler.WithAttrs(attrs)} }
func (h calm) WithGroup(name string) slog.Handler       { return calm{h.Handler.WithGroup(name)} }
