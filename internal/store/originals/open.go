package originals

import (
	"errors"
	"fmt"
	"log/slog"

	"secateur/internal/store/redisdb"
)

// Options is what Open needs beside the settings.
type Options struct {
	Settings

	Base string       // where a relative file:DIR starts: the directory of the configuration file
	Home string       // what ~ stands for
	Log  *slog.Logger // nil discards

	// Shared reports whether several tenants may come, so that none gets all of the room: where new originals are refused, a tenant takes
	// no more than is left, so that whoever comes next finds some; where the oldest go, they are those of whoever has most. nil: they
	// may not. A Redis store has room for each of them.
	Shared func() bool

	NoSweep bool        // see FileOptions
	Key     Key         // of a store in memory; others have their own
	Redis   *redisdb.DB // the engine that a redis: URL names
}

// Open makes the store that the settings ask for. A store on disk is opened, not just named: a directory that
// cannot be made or written is an error here, not at the first Put.
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

// inFront puts the reports, and the time that a Put may take, in front of a store that can be slow.
func (o Options) inFront(s StoreCloser) StoreCloser {
	if o.PutTimeout == 0 {
		return WithReports(s, o.Log)
	}
	return WithReports(WithPutTimeout(s, o.PutTimeout), o.Log)
}

// Dir is the directory of a store on disk; not ok for any other store.
func (o Options) Dir() (dir string, ok bool) {
	where, err := parseURL(o.URL)
	if err != nil || where.dir == "" {
		return "", false
	}
	dir, err = where.resolve(o.Base, o.Home)
	return dir, err == nil
}
