package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"secateur/internal/store/redisdb"

	"github.com/redis/go-redis/v9"
)

// maxRedisValue limits the size of one value in the engine.
const maxRedisValue = 8 << 20

// RedisOptions configure a Redis.
type RedisOptions struct {
	DB       *redisdb.DB
	MaxBytes int64         // size of the local copy; 0: DefaultMaxBytes
	TTL      time.Duration // life after the last use; 0: DefaultTTL
	Log      *slog.Logger  // nil discards

	// quota in bytes per tenant in the engine, else ErrFull; 0: unlimited
	Room   int64
	Tenant func(key string) string // returns the tenant of a value; nil: a single tenant
}

// Redis keeps values for all replicas. It also keeps a local copy of what this process has put or
// got. While the engine is unreachable, running conversations continue from that copy, in their
// earlier form. Otherwise the engine decides.
type Redis struct {
	db   *redisdb.DB
	ttl  time.Duration
	log  *slog.Logger
	near Memory

	room   int64
	tenant func(key string) string
	rooms  rooms
}

// NewRedis returns a store in an engine. It does not close the engine's connections.
func NewRedis(o RedisOptions) *Redis {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Redis{db: o.DB, ttl: o.TTL, log: o.Log, near: Memory{MaxBytes: o.MaxBytes, TTL: o.TTL}, room: o.Room, tenant: o.Tenant}
}

// redisKey returns a key of fixed length, in its own hash slot.
func redisKey(key string) string { return redisdb.Key("r", nameOf(key), "") }

// Get returns the value. An error means that the engine is unreachable and no local copy exists. A
// value missing earlier may exist by now, since another replica may have put it.
func (r *Redis) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return r.read(ctx, key, r.db.GetEx(ctx, redisKey(key), r.ttl))
}

func (r *Redis) read(ctx context.Context, key string, answer *redis.StringCmd) (value []byte, ok bool, err error) {
	content, err := answer.Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		r.near.drop(key)
		return nil, false, nil
	case err != nil:
		if value, ok := r.near.get(key); ok {
			return value, true, nil
		}
		return nil, false, fmt.Errorf("read record: %w", err)
	}
	if value, ok = open(content, key); ok {
		r.setNear(ctx, key, value)
	}
	return value, ok, nil
}

// setNear updates the local copy, unless the value is too large.
func (r *Redis) setNear(ctx context.Context, key string, value []byte) {
	_ = r.near.Put(ctx, key, value)
}

// Put stores the value, replacing an earlier one.
func (r *Redis) Put(ctx context.Context, key string, value []byte) error {
	return r.PutEach(ctx, 1, func(int) (string, []byte, bool) { return key, value, false })[0]
}

// PutNew stores a value if its key has none, and reports whether it did. Of several replicas only
// one is first.
func (r *Redis) PutNew(ctx context.Context, key string, value []byte) (first bool, err error) {
	err = r.PutEach(ctx, 1, func(int) (string, []byte, bool) { return key, value, true })[0]
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
