package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/replica"
	"secateur/internal/store/redisdb"
)

// openRedis connects to the engine in the store's URL. It does nothing for a store in this process
// or on its disk.
func (a *App) openRedis(ctx context.Context) error {
	if !redisdb.IsURL(a.cfg.Store.URL) {
		return nil
	}
	db, err := redisdb.Open(ctx, redisdb.Options{URL: a.cfg.Store.URL, Log: a.log})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	a.redis, a.limitStore = db, limit.NewRedis(db)
	a.closers = append(a.closers, a.limitStore, db)
	a.replicas = replica.New(replica.Options{
		DB: db, Leaf: func() []byte { return a.live.Load().certificates.Leaf() }, Heard: a.heard, Missed: a.missedNews, Log: a.log,
		Own: func() *tls.Certificate { return a.live.Load().certificates.Own() }, ServerName: auth.ReplicaName, State: a.replicaState,
	})
	return nil
}

// announce publishes this replica's address to the others while ctx lives.
func (a *App) announce(ctx context.Context, ln net.Listener, work *errgroup.Group) {
	if a.replicas == nil {
		return
	}
	a.replicas.Announce(ctx, replica.AddressOf(ctx, a.cfg.Advertise, ln.Addr(), a.redis))
	work.Go(func() error { return a.replicas.Run(ctx) })
	a.relay(ctx, work)
}

// replicaState returns this replica's state for the others to show.
func (a *App) replicaState() replica.State {
	s := replica.State{Version: a.opt.Version, StartedAt: a.started, Config: a.configState().SHA256}
	for _, st := range a.servers.Status() {
		s.InFlight += st.InFlight
	}
	if a.mcp != nil {
		s.Sessions = a.mcp.Sessions()
	}
	return s
}

// controlReplicas returns the live replicas as the control plane shows them. It returns only this
// one if the engine is down.
func (a *App) controlReplicas(ctx context.Context) []admin.Replica {
	members, err := a.replicas.Members(ctx)
	if err != nil || len(members) == 0 {
		members = []replica.Member{{Name: a.replicas.Name(), Address: a.listening(), Self: true, State: a.replicaState()}}
	}
	all := make([]admin.Replica, len(members))
	for i, m := range members {
		all[i] = admin.Replica{
			Name: m.Name, Address: m.Address, Self: m.Self, Version: m.State.Version, StartedAt: m.State.StartedAt, ConfigSHA256: m.State.Config,
			InFlight: m.State.InFlight, Sessions: m.State.Sessions,
		}
	}
	return all
}
