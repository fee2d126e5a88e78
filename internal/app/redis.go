package app

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"secateur/internal/redisdb"
	"secateur/internal/replicas"
)

// openRedis opens the engine that the store's URL names; none for a store in this process or on its disk.
func (a *App) openRedis(ctx context.Context) error {
	if !redisdb.IsURL(a.cfg.Store.URL) {
		return nil
	}
	db, err := redisdb.Open(ctx, redisdb.Options{URL: a.cfg.Store.URL, Log: a.log})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	a.redis = db
	a.closers = append(a.closers, db)
	a.replicas = replicas.New(replicas.Options{
		DB: db, Leaf: func() []byte { return a.live.Load().certificates.Leaf() }, Heard: a.heard, Missed: a.missedNews, Log: a.log,
	})
	return nil
}

// announce tells the other replicas where this one is, now and as long as ctx lives.
func (a *App) announce(ctx context.Context, ln net.Listener, work *errgroup.Group) {
	if a.replicas == nil {
		return
	}
	a.replicas.Announce(ctx, replicas.AddressOf(ctx, a.cfg.Advertise, ln.Addr(), a.redis))
	work.Go(func() error { return a.replicas.Run(ctx) })
}
