package originals

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/store/redisdb"

	"github.com/redis/go-redis/v9"
)

// nearBytes is the size of this process's cache for a Redis store.
const nearBytes = 32 << 20

// RedisOptions configure a Redis store.
type RedisOptions struct {
	DB         *redisdb.DB
	MaxBytes   int64 // quota of each tenant
	TTL        time.Duration
	DropOldest bool
	Key        Key
	NearBytes  int64 // size of the local cache of read texts; 0: no cache
}

// Redis stores originals for several replicas. A text is one value, compressed as in a file, with
// an expiry. Each tenant has its own index, so values spread over a Cluster while the count stays
// exact. If the engine loses data (flushed or evicted), originals are not found; a wrong text is
// never returned. Texts that were read are also cached in this process ("near").
type Redis struct {
	opt   RedisOptions
	codec codec
	near  Memory

	refused, dropped, corrupt atomic.Int64

	mu      sync.Mutex // guards the fields below
	tenants map[string]count
	full    bool
	closed  bool
}

// count is a tenant's usage as last seen.
type count struct{ originals, bytes int64 }

// maxTenants limits the tenants that Stats include.
const maxTenants = 10_000

// OpenRedis returns a store in an engine. Close does not close the engine's connections.
func OpenRedis(o RedisOptions) (*Redis, error) {
	c, err := newCodec()
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	c.key = o.Key
	return &Redis{opt: o, codec: c, near: Memory{Key: o.Key, MaxBytes: o.NearBytes, TTL: o.TTL, DropOldest: true}, tenants: map[string]count{}}, nil
}

// redisKeys are a tenant's keys. A value has its own hash slot, the tenant's index another.
type redisKeys struct{ index, sizes, total, tag string }

func keysOf(tenant string) redisKeys {
	sum := tenantTag(tenant)
	tag := hex.EncodeToString(sum[:])
	return redisKeys{redisdb.Key("oi", tag, "moments"), redisdb.Key("oi", tag, "sizes"), redisdb.Key("oi", tag, "total"), tag}
}

func (k redisKeys) list() []string { return []string{k.index, k.sizes, k.total} }

func (k redisKeys) value(id string) string { return redisdb.Key("o", k.tag+id, "") }

// ID returns the id that Put would return.
func (r *Redis) ID(tenant, text string) string { return r.codec.key.ID(tenant, text) }

// Put reserves room in the tenant's index and writes the text, in one round trip. If room may be
// short, it takes two.
func (r *Redis) Put(ctx context.Context, tenant, text string) (string, error) {
	ids, errs := r.PutEach(ctx, tenant, []string{text}, nil)
	return ids[0], errs[0]
}

// PutEach is Put for each of the texts, in one round trip. Commands that others adds are sent in
// the same pipeline, after those for the texts.
func (r *Redis) PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error) {
	ids, errs = make([]string, len(texts)), make([]error, len(texts))
	keys, puts, size := keysOf(tenant), make([]*putting, len(texts)), int64(0)
	for i, text := range texts {
		switch {
		case r.isClosed():
			errs[i] = ErrUnavailable
		case int64(len(text)) > r.opt.MaxBytes:
			errs[i] = ErrTooLarge
		default:
			p := &putting{id: r.ID(tenant, text), content: r.codec.encode(nil, tenant, text, time.Time{})}
			size += p.cost()
			p.asksFirst = r.mayBeFull(keys.tag, size)
			puts[i] = p
		}
	}
	_, _ = r.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error { // each command has its own error
		for _, one := range puts {
			if one != nil {
				r.ask(ctx, p, keys, one)
			}
		}
		if others != nil {
			others(ctx, p)
		}
		return nil
	})
	for i, one := range puts {
		if one != nil {
			ids[i], errs[i] = one.id, r.settle(ctx, keys, one)
		}
		if errs[i] != nil {
			ids[i] = ""
			r.refused.Add(1)
		}
	}
	return ids, errs
}

// putting is a text being stored.
type putting struct {
	id        string
	content   []byte
	asksFirst bool // room may be short: write only after reserving

	room    *redis.Cmd
	written *redis.StatusCmd // nil if asksFirst
	renewed *redis.BoolCmd
}

// cost returns an original's size in the engine: bytes, key and index entry.
func (p *putting) cost() int64 { return int64(len(p.content)) + costOfKeeping }

// ask reserves room for an original, or renews its reservation, and writes it if missing. If it
// then finds no room, it stays until it expires: another replica may be reserving it just then. Few
// such texts exist, since the next Puts ask first.
func (r *Redis) ask(ctx context.Context, p redis.Pipeliner, keys redisKeys, one *putting) {
	one.room = reserve.EvalSha(ctx, p, keys.list(), r.reserveArgs(one)...)
	if !one.asksFirst {
		one.written = p.SetArgs(ctx, keys.value(one.id), one.content, redis.SetArgs{Mode: "NX", TTL: r.opt.TTL})
	}
	one.renewed = p.PExpire(ctx, keys.value(one.id), r.opt.TTL)
}

// settle reads the results for a text, and writes it if it has room but is missing.
func (r *Redis) settle(ctx context.Context, keys redisKeys, one *putting) error {
	// a restarted engine needs the script again
	if redis.HasErrorPrefix(one.room.Err(), "NOSCRIPT") {
		one.room = reserve.Eval(ctx, r.opt.DB, keys.list(), r.reserveArgs(one)...)
	}
	state, err := r.readRoom(ctx, keys, one.room)
	if err != nil {
		return err
	}
	if one.asksFirst {
		if err := one.renewed.Err(); state == reserveKnown && err != nil {
			return away(err)
		}
		if state == reserveKnown && one.renewed.Val() {
			return nil
		}
	} else if err := one.written.Err(); err == nil || state == reserveKnown && errors.Is(err, redis.Nil) {
		return nil
	}
	// also overwrites an uncounted value, which may be damaged
	return r.overwrite(ctx, keys, one.id, one.content, state)
}

func (r *Redis) overwrite(ctx context.Context, keys redisKeys, id string, content []byte, state int64) error {
	err := r.opt.DB.Set(ctx, keys.value(id), content, r.opt.TTL).Err()
	if err == nil {
		return nil
	}
	if state == reserveNew {
		r.release(ctx, keys, id)
	}
	return away(err)
}

// mayBeFull reports whether a tenant had little room when last seen. A store that evicts always has
// some.
func (r *Redis) mayBeFull(tag string, size int64) bool {
	if r.opt.DropOldest {
		return size > r.opt.MaxBytes
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.tenants[tag]
	if !known {
		return len(r.tenants) >= maxTenants // such a tenant never becomes known
	}
	return seen.bytes+size > r.opt.MaxBytes-r.opt.MaxBytes/16
}

// readRoom reads the result of reserve.
func (r *Redis) readRoom(ctx context.Context, keys redisKeys, room *redis.Cmd) (state int64, _ error) {
	answer, err := room.Slice()
	if err != nil {
		return 0, away(err)
	}
	state, now, gone := readReserve(answer)
	r.note(keys.tag, now, state == reserveFull)
	r.drop(ctx, keys, gone)
	if state == reserveFull {
		return 0, ErrFull
	}
	return state, nil
}

func (r *Redis) reserveArgs(one *putting) []any {
	oldest := 0
	if r.opt.DropOldest {
		oldest = 1
	}
	return []any{one.id, one.cost(), r.opt.TTL.Milliseconds(), r.opt.MaxBytes, oldest}
}

// drop deletes evicted originals, each in its own hash slot. One that remains expires.
func (r *Redis) drop(ctx context.Context, keys redisKeys, gone []string) {
	if len(gone) == 0 {
		return
	}
	r.dropped.Add(int64(len(gone)))
	_, _ = r.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, old := range gone {
			p.Unlink(ctx, keys.value(old))
		}
		return nil
	})
}

// release undoes the reservation of a text that could not be written.
func (r *Redis) release(ctx context.Context, keys redisKeys, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = release.Run(ctx, r.opt.DB, keys.list(), id).Err()
}

// Get returns the text in one round trip. It does not transfer the bytes if they are cached here.
func (r *Redis) Get(ctx context.Context, tenant, id string) (string, error) {
	if r.isClosed() {
		return "", ErrUnavailable
	}
	if !isID(id) {
		return "", ErrNotFound
	}
	keys := keysOf(tenant)
	near, err := r.near.Get(ctx, tenant, id)
	isNear := err == nil && r.opt.NearBytes > 0
	var content *redis.StringCmd
	_, err = r.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error {
		if isNear {
			p.PExpire(ctx, keys.value(id), r.opt.TTL)
		} else {
			content = p.GetEx(ctx, keys.value(id), r.opt.TTL)
		}
		renew.Eval(ctx, p, keys.list(), id, r.opt.TTL.Milliseconds())
		return nil
	})
	switch {
	case isNear:
		return near, nil // whether or not the engine still has it, or answers
	case errors.Is(content.Err(), redis.Nil):
		return "", ErrNotFound
	case content.Err() != nil:
		return "", away(content.Err())
	case err != nil && redisdb.IsAway(err):
		return "", away(err)
	}
	return r.decode(ctx, tenant, id, content)
}

func (r *Redis) decode(ctx context.Context, tenant, id string, content *redis.StringCmd) (string, error) {
	b, err := content.Bytes()
	if err != nil {
		return "", away(err)
	}
	text, err := r.codec.decode(b, tenant, id)
	switch {
	case errors.Is(err, errNewer):
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		keys := keysOf(tenant)
		r.corrupt.Add(1)
		_ = r.opt.DB.Unlink(ctx, keys.value(id)).Err()
		r.release(ctx, keys, id)
		return "", ErrDamaged
	}
	if r.opt.NearBytes > 0 {
		_, _ = r.near.Put(ctx, tenant, text) // without room it is not cached
	}
	return text, nil
}

// away wraps an error of the engine.
func away(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

func (r *Redis) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// note remembers a tenant's usage.
func (r *Redis) note(tag string, c count, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tenants[tag]; known || len(r.tenants) < maxTenants {
		r.tenants[tag] = c
	}
	r.full = full
}

// Stats returns the last known usage of the tenants that this process has stored for.
func (r *Redis) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{
		Kind: KindRedis, MaxBytes: r.opt.MaxBytes, Full: r.full, Down: r.opt.DB.Up() != nil,
		Refused: r.refused.Load(), Dropped: r.dropped.Load(), Corrupt: r.corrupt.Load(),
	}
	for _, c := range r.tenants {
		s.Count += int(c.originals)
		s.Bytes += c.bytes
	}
	return s
}

// Close releases this store's own resources.
func (r *Redis) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return r.codec.close()
}
