package originals

import (
	"errors"
	"fmt"
	"log/slog"

	"secateur/internal/store/redisdb"
)

// Options are the settings and live parts that Open needs.
type Options struct {
	Settings

	Base string       // base of a relative file:DIR: the directory of the configuration file
	Home string       // replacement for ~
	Log  *slog.Logger // nil discards

	// Shared reports whether several tenants may use the store, so that none takes all the room.
	// With WhenFullRefuse, a tenant may hold at most as much as remains free. With WhenFullOldest,
	// the store evicts from the largest tenant. nil: a single tenant. A Redis store has a separate
	// quota for each tenant.
	Shared func() bool

	NoSweep bool        // see FileOptions
	Key     Key         // for a store in memory; others have their own
	Redis   *redisdb.DB // the engine of a redis: URL
}

// Open returns the store that the settings ask for. It fails at once if a directory cannot be
// created or written.
func Open(o Options) (StoreCloser, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	where, err := parseURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	if where.redis {
		return openRedis(o)
	}
	if where.dir == "" {
		return WithReports(&Memory{Key: o.Key, MaxBytes: o.MaxBytes, TTL: o.TTL, DropOldest: o.WhenFull == WhenFullOldest, Shared: o.Shared}, o.Log), nil
	}
	dir, err := where.resolve(o.Base, o.Home)
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	f, err := OpenFile(FileOptions{Dir: dir, MaxBytes: o.MaxBytes, TTL: o.TTL, DropOldest: o.WhenFull == WhenFullOldest, Shared: o.Shared, NoSweep: o.NoSweep, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return o.inFront(f), nil
}

func openRedis(o Options) (StoreCloser, error) {
	if o.Redis == nil {
		return nil, errors.New("open store of originals: no engine was opened for its url")
	}
	r, err := OpenRedis(RedisOptions{
		Key: keyOfURL(o.URL), DB: o.Redis, MaxBytes: o.MaxBytes, TTL: o.TTL, DropOldest: o.WhenFull == WhenFullOldest, NearBytes: min(nearBytes, o.MaxBytes),
	})
	if err != nil {
		return nil, err
	}
	return o.inFront(r), nil
}

// inFront wraps a slow store with reports and the put timeout.
func (o Options) inFront(s StoreCloser) StoreCloser {
	if o.PutTimeout == 0 {
		return WithReports(s, o.Log)
	}
	return WithReports(WithPutTimeout(s, o.PutTimeout), o.Log)
}

// Dir returns the directory of a store on disk. It is not ok for other stores.
func (o Options) Dir() (dir string, ok bool) {
	where, err := parseURL(o.URL)
	if err != nil || where.dir == "" {
		return "", false
	}
	dir, err = where.resolve(o.Base, o.Home)
	return dir, err == nil
}
