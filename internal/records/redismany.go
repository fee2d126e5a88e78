package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// GetEach asks for many values in one round trip (a pipeline; in a Cluster one a node, side by side), and hands over what Get would return for each.
func (r *Redis) GetEach(ctx context.Context, keys []string, found func(i int, value []byte, ok bool, err error)) {
	asked := make([]*redis.StringCmd, len(keys))
	_, _ = r.db.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		for i, key := range keys {
			asked[i] = p.GetEx(ctx, redisKey(key), r.ttl)
		}
		return nil
	})
	for i, key := range keys {
		value, ok, err := r.read(ctx, key, asked[i])
		found(i, value, ok, err)
	}
}

// PutEach keeps n values in one round trip, and tells of each why it was not kept. One that is onlyNew is kept where its key has none, and it is no
// error where it has.
func (r *Redis) PutEach(ctx context.Context, n int, at func(i int) (key string, value []byte, onlyNew bool)) []error {
	errs, asked := make([]error, n), make([]*redis.StatusCmd, n)
	_, _ = r.db.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		for i := range n {
			key, value, onlyNew := at(i)
			if len(value) > maxRedisValue {
				errs[i] = ErrTooLarge
				continue
			}
			how := redis.SetArgs{TTL: r.ttl}
			if onlyNew {
				how.Mode = "NX"
			}
			asked[i] = p.SetArgs(ctx, redisKey(key), seal(key, value), how)
		}
		return nil
	})
	for i, cmd := range asked {
		if cmd == nil {
			continue
		}
		key, value, onlyNew := at(i)
		switch err := cmd.Err(); {
		case onlyNew && errors.Is(err, redis.Nil): // another's, which is not near
		case err != nil:
			errs[i] = fmt.Errorf("keep record: %w", err)
		default:
			r.setNear(ctx, key, value)
		}
	}
	return errs
}
