package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/redis/go-redis/v9"
)

// GetEach reads many values in one round trip, and passes on what Get would return for each. It
// uses a pipeline; in a Cluster, one per node in parallel.
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

// PutEach stores n values in one round trip, and returns an error for each. If onlyNew is set and
// the key has a value, that one stays and the error is fs.ErrExist.
func (r *Redis) PutEach(ctx context.Context, n int, at func(i int) (key string, value []byte, onlyNew bool)) []error {
	w := r.Writing(n, at)
	_, _ = r.db.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		w.Ask(ctx, p)
		return nil
	})
	return w.Errs(ctx)
}

// Writing is a PutEach whose commands join another pipeline.
type Writing struct {
	r     *Redis
	at    func(i int) (key string, value []byte, onlyNew bool)
	errs  []error
	asked []*redis.StatusCmd // nil: not sent

	charged []*charging // by tenant
}

// Writing prepares a PutEach for the caller's pipeline.
func (r *Redis) Writing(n int, at func(i int) (key string, value []byte, onlyNew bool)) *Writing {
	return &Writing{r: r, at: at, errs: make([]error, n), asked: make([]*redis.StatusCmd, n)}
}

// Ask adds the commands to a pipeline.
func (w *Writing) Ask(ctx context.Context, p redis.Pipeliner) {
	for i := range w.asked {
		key, value, onlyNew := w.at(i)
		if len(value) > maxRedisValue {
			w.errs[i] = ErrTooLarge
			continue
		}
		content := seal(key, value)
		if !w.charge(ctx, key, len(content)) {
			w.errs[i] = ErrFull
			continue
		}
		how := redis.SetArgs{TTL: w.r.ttl}
		if onlyNew {
			how.Mode = "NX"
		}
		w.asked[i] = p.SetArgs(ctx, redisKey(key), content, how)
	}
	for _, c := range w.charged {
		if len(c.args) > 1 {
			c.answer = charge.EvalSha(ctx, p, c.keys(), c.args...)
		}
	}
}

// charge counts a value for its tenant, and reports whether it has room.
func (w *Writing) charge(ctx context.Context, key string, size int) bool {
	if w.r.room <= 0 {
		return true
	}
	c := w.r.newCharging(key)
	i := slices.IndexFunc(w.charged, func(other *charging) bool { return other.tag == c.tag })
	if i < 0 {
		c.full = !w.r.hasRoom(ctx, c)
		i, w.charged = len(w.charged), append(w.charged, c)
	}
	if c = w.charged[i]; c.full {
		return false
	}
	c.add(key, size)
	return true
}

// Errs returns the result of PutEach, after the pipeline was executed.
func (w *Writing) Errs(ctx context.Context) []error {
	for _, c := range w.charged {
		if c.answer != nil {
			w.r.settle(ctx, c)
		}
	}
	for i, cmd := range w.asked {
		if w.errs[i] != nil {
			continue
		}
		if cmd == nil {
			w.errs[i] = errNotAsked
			continue
		}
		key, value, onlyNew := w.at(i)
		switch err := cmd.Err(); {
		case onlyNew && errors.Is(err, redis.Nil): // another replica's value, not copied here
			w.errs[i] = fs.ErrExist
		case err != nil:
			w.errs[i] = fmt.Errorf("keep record: %w", err)
		default:
			w.r.setNear(ctx, key, value)
		}
	}
	return w.errs
}

var errNotAsked = errors.New("keep record: the engine was not asked")
