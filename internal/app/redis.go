package app

import (
	"context"
	"fmt"

	"secateur/internal/redisdb"
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
	return nil
}
