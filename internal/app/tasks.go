package app

import (
	"path/filepath"

	"secateur/internal/mcp/tasks"
	"secateur/internal/store/records"
)

// openTasks makes the register of task owners, shared by all doors. It survives a restart, and
// reaches other replicas, if the store does.
func (a *App) openTasks() *tasks.Owners {
	ttl := a.cfg.Store.SentTTL
	if a.redis != nil {
		return &tasks.Owners{Records: records.NewRedis(records.RedisOptions{DB: a.redis, TTL: ttl, Log: a.log})}
	}
	dir, onDisk := a.storeOptions().Dir()
	if !onDisk {
		return &tasks.Owners{}
	}
	kept, err := records.OpenFile(records.FileOptions{Dir: filepath.Join(dir, "records"), TTL: ttl, Log: a.log})
	if err != nil { // the chat door reports the error and does not open
		a.log.Warn("who makes tasks is not kept beyond a restart", "err", err)
		return &tasks.Owners{}
	}
	return &tasks.Owners{Records: kept}
}
