package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"secateur/internal/admin"
	"secateur/internal/catalog"
	"secateur/internal/child"
	"secateur/internal/config"
	"secateur/internal/demo"
	"secateur/internal/pool"
	"secateur/internal/pruner"
	"secateur/internal/upstream"
)

// servers are the MCP servers behind the doors, those inside this program included.
type servers struct {
	*pool.Pool
	pruner *pruner.Server              // nil: not enabled
	local  map[string]upstream.Handler // what stands behind the built-in ones
}

func (a *App) buildServers() (*servers, error) {
	s := &servers{local: map[string]upstream.Handler{}}
	settings := slices.Clone(a.cfg.Servers)
	for _, set := range settings {
		if set.Builtin == "demo" {
			d, err := demo.New(a.opt.Version)
			if err != nil {
				return nil, err
			}
			s.local[set.ID] = d
		}
	}
	if a.cfg.Pruner.Enabled {
		p, err := a.newPruner()
		if err != nil {
			return nil, err
		}
		s.pruner = p
		s.local[config.PrunerID] = p
		settings = append(settings, upstream.Settings{ID: config.PrunerID, Builtin: config.PrunerID})
	}
	var err error
	s.Pool, err = pool.New(pool.Options{
		Servers: settings,
		New: func(set upstream.Settings, c pool.Connection) (*upstream.Upstream, error) {
			return a.connect(s, set, c)
		},
		Names:         catalog.NewNames(a.cfg.Naming),
		FirstListWait: a.cfg.FirstListWait,
		Eager:         !a.opt.Lazy,
		Log:           a.log,
	})
	return s, err
}

// connect builds one connection to a server.
func (a *App) connect(s *servers, set upstream.Settings, c pool.Connection) (*upstream.Upstream, error) {
	if c.Protocol != "" {
		set.Protocol = c.Protocol
	}
	log := a.log
	if c.Trial {
		log = slog.New(calm{log.Handler()})
	}
	up, err := upstream.New(upstream.Options{
		Settings:        inHome(set, a.opt.Home),
		Local:           s.local[set.ID],
		Capabilities:    c.Capabilities,
		Incoming:        c.Incoming,
		Opened:          c.Opened,
		Log:             log,
		Kill:            a.opt.Kill,
		BaseEnv:         child.BaseEnv(a.opt.Environ),
		ResponseTimeout: a.cfg.ResponseTimeout,
		MaxMessageBytes: int(a.cfg.MaxMessageBytes),
		LongString:      a.cfg.ObservationMasking.Gateway.MaxChars,
		ClientVersion:   a.opt.Version,
		HealthInterval:  a.cfg.HealthcheckInterval,
		HealthTimeout:   a.cfg.HealthcheckTimeout,
	})
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

// presentError is why a server is not as it should be; what it has recovered from is over.
func presentError(s upstream.Status) string {
	if s.State == upstream.Ready {
		return ""
	}
	return s.LastError
}

// sortedIDs are those of the servers that can be called, as a list for a person.
func (s *servers) sortedIDs() []string { return slices.Sorted(slices.Values(s.IDs())) }

// calm is for a connection that may well fail: whether a server speaks the modern era is found out by trying. What would
// be a warning of any other is for those who look closely.
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
