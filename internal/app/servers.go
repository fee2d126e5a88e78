package app

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"secateur/internal/admin"
	"secateur/internal/config"
	"secateur/internal/demo"
	"secateur/internal/prunemcp"
	"secateur/internal/upstream"
)

// servers are the MCP servers behind the doors, those inside this program included.
type servers struct {
	all    []*upstream.Upstream // in the order of the file
	index  map[string]*upstream.Upstream
	pruner *prunemcp.Server // nil: not enabled
}

func (a *App) buildServers() (*servers, error) {
	s := &servers{index: map[string]*upstream.Upstream{}}
	for _, set := range a.cfg.Servers {
		if err := s.add(a, set, nil); err != nil {
			return nil, err
		}
	}
	if a.cfg.Pruner.Enabled {
		p, err := a.newPruner()
		if err != nil {
			return nil, err
		}
		s.pruner = p
		if err := s.add(a, upstream.Settings{ID: config.PrunerID, Builtin: config.PrunerID}, p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *servers) add(a *App, set upstream.Settings, local upstream.Handler) error {
	if set.Builtin == "demo" {
		d, err := demo.New(a.opt.Version)
		if err != nil {
			return err
		}
		local = d
	}
	up, err := upstream.New(upstream.Options{
		Settings:        set,
		Local:           local,
		Log:             a.log,
		BaseEnv:         upstream.BaseEnv(a.opt.Environ),
		ResponseTimeout: a.cfg.ResponseTimeout,
		MaxMessageBytes: int(a.cfg.MaxMessageBytes),
		LongString:      a.cfg.ObservationMasking.Gateway.MaxChars,
		ClientVersion:   a.opt.Version,
		HealthInterval:  a.cfg.HealthcheckInterval,
		HealthTimeout:   a.cfg.HealthcheckTimeout,
	})
	if err != nil {
		return fmt.Errorf("server %q: %w", set.ID, err)
	}
	s.all = append(s.all, up)
	s.index[set.ID] = up
	return nil
}

// run keeps all servers alive until ctx is done and none of them is left.
func (s *servers) run(ctx context.Context) error {
	var all errgroup.Group
	for _, up := range s.all {
		all.Go(func() error { return up.Run(ctx) })
	}
	return all.Wait()
}

// byID finds a server; a disabled one is as unknown as any other.
func (s *servers) byID(id string) *upstream.Upstream {
	if up := s.index[id]; up != nil && !up.Settings().Disabled {
		return up
	}
	return nil
}

func (s *servers) ids() (ids []string) {
	for _, up := range s.all {
		if !up.Settings().Disabled {
			ids = append(ids, up.ID())
		}
	}
	slices.Sort(ids)
	return ids
}

func (s *servers) status() (all []upstream.Status) {
	for _, up := range s.all {
		all = append(all, up.Status())
	}
	return all
}

func (a *App) serverStates() (all []admin.ServerState) {
	for _, st := range a.servers.status() {
		all = append(all, admin.ServerState{ID: st.ID, State: string(st.State), Restarts: st.Restarts, Error: st.LastError})
	}
	return all
}
