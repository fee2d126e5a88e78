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

// maxRedisValue bounds one value in the engine.
const maxRedisValue = 8 << 20

// RedisOptions say where and for how long a Redis keeps values.
type RedisOptions struct {
	DB       *redisdb.DB
	MaxBytes int64         // of what is kept in this process too; 0: DefaultMaxBytes
	TTL      time.Duration // life after the last use; 0: DefaultTTL
	Log      *slog.Logger  // nil discards

	Room   int64                   // bytes in the engine of each tenant, beyond which its values are refused with ErrFull; 0: any
	Tenant func(key string) string // whose room a value takes; nil: all values are of one
}

// Redis keeps values where every replica finds them. What this process has put or got is kept here as well, for the time
// that the engine does not answer: the conversations that it serves go on in the form they had. While the engine answers,
// its word counts.
type Redis struct {
	db   *redisdb.DB
	ttl  time.Duration
	log  *slog.Logger
	near Memory

	room   int64
	tenant func(key string) string
	rooms  rooms
}

// NewRedis keeps values in an engine, whose connections stay their owner's.
func NewRedis(o RedisOptions) *Redis {
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Redis{db: o.DB, ttl: o.TTL, log: o.Log, near: Memory{MaxBytes: o.MaxBytes, TTL: o.TTL}, room: o.Room, tenant: o.Tenant}
}

// redisKey is a name of fixed length for any key, in a slot of its own.
func redisKey(key string) string { return redisdb.Key("r", nameOf(key), "") }

// Get returns the value. The error says that the engine could not be asked, and that this process does not know: that there was none once
// says nothing, since another replica may have put one since.
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

// setNear remembers what the engine has; what is too large is not near.
func (r *Redis) setNear(ctx context.Context, key string, value []byte) {
	_ = r.near.Put(ctx, key, value)
}

// Put keeps the value in place of any earlier one.
func (r *Redis) Put(ctx context.Context, key string, value []byte) error {
	return r.PutEach(ctx, 1, func(int) (string, []byte, bool) { return key, value, false })[0]
}

// PutNew keeps a value for a key that has none, and tells whether it did. Of several replicas one is the first.
func (r *Redis) PutNew(ctx context.Context, key string, value []byte) (first bool, err error) {
	err = r.PutEach(ctx, 1, func(int) (string, []byte, bool) { return key, value, true })[0]
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
