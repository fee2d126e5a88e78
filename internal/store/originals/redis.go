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

// nearBytes bounds what of a store in Redis is kept in this process too.
const nearBytes = 32 << 20

// RedisOptions say what a Redis store keeps.
type RedisOptions struct {
	DB         *redisdb.DB
	MaxBytes   int64 // room of each tenant
	TTL        time.Duration
	DropOldest bool
	Key        Key
	NearBytes  int64 // what was asked for is kept in this process too, so much of it; 0: nothing
}

// Redis keeps originals where several replicas find them. A text is one value, compressed as in a file, that expires by
// itself; a tenant's originals are counted in an index of their own, so that values spread over a Cluster while the count
// stays exact. What is lost there (an engine that was emptied, or evicts) is not found here: never another text.
// Texts that were asked for are near: kept in this process as well.
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

// count is what a tenant had when it was last looked.
type count struct{ originals, bytes int64 }

// maxTenants bounds of how many tenants Stats tell.
const maxTenants = 10_000

// OpenRedis makes a store in an engine. Close leaves the engine's connections to their owner.
func OpenRedis(o RedisOptions) (*Redis, error) {
	c, err := newCodec()
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	c.key = o.Key
	return &Redis{opt: o, codec: c, near: Memory{Key: o.Key, MaxBytes: o.NearBytes, TTL: o.TTL, DropOldest: true}, tenants: map[string]count{}}, nil
}

// redisKeys is where a tenant's things are. The value has a slot of its own, the index of a tenant another.
type redisKeys struct{ index, sizes, total, tag string }

func keysOf(tenant string) redisKeys {
	sum := tenantTag(tenant)
	tag := hex.EncodeToString(sum[:])
	return redisKeys{redisdb.Key("oi", tag, "moments"), redisdb.Key("oi", tag, "sizes"), redisdb.Key("oi", tag, "total"), tag}
}

func (k redisKeys) list() []string { return []string{k.index, k.sizes, k.total} }

func (k redisKeys) value(id string) string { return redisdb.Key("o", k.tag+id, "") }

// ID is what Put would return.
func (r *Redis) ID(tenant, text string) string { return r.codec.key.ID(tenant, text) }

// Put makes room for the text in the tenant's count and writes it, in one round trip; where there may be no room, in two.
func (r *Redis) Put(ctx context.Context, tenant, text string) (string, error) {
	ids, errs := r.PutEach(ctx, tenant, []string{text}, nil)
	return ids[0], errs[0]
}

// PutEach is Put for each of the texts, all in one round trip, in which others' commands travel, too, behind those for the texts.
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

// putting is a text on its way.
type putting struct {
	id        string
	content   []byte
	asksFirst bool // it is written once it has found room: there may be none

	room    *redis.Cmd
	written *redis.StatusCmd // nil where it asks first
	renewed *redis.BoolCmd
}

// cost is what an original takes in the engine: its bytes, its key and its place in the index.
func (p *putting) cost() int64 { return int64(len(p.content)) + costOfKeeping }

// ask counts an original in, or renews one that is counted, and writes it where it is not there. One that then finds no room stays until it expires: taken
// away, it would be missing to who counts it in at that moment. It is one of few, since those that follow ask first.
func (r *Redis) ask(ctx context.Context, p redis.Pipeliner, keys redisKeys, one *putting) {
	one.room = reserve.EvalSha(ctx, p, keys.list(), r.reserveArgs(one)...)
	if !one.asksFirst {
		one.written = p.SetArgs(ctx, keys.value(one.id), one.content, redis.SetArgs{Mode: "NX", TTL: r.opt.TTL})
	}
	one.renewed = p.PExpire(ctx, keys.value(one.id), r.opt.TTL)
}

// settle reads what became of a text, and writes it where it has found room and is not there.
func (r *Redis) settle(ctx context.Context, keys redisKeys, one *putting) error {
	if redis.HasErrorPrefix(one.room.Err(), "NOSCRIPT") { // an engine that was restarted learns it
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
	return r.overwrite(ctx, keys, one.id, one.content, state) // also one that was there and nobody had counted: whole or not
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

// mayBeFull reports whether what was last seen of a tenant leaves little room. Where the oldest make room there is some.
func (r *Redis) mayBeFull(tag string, size int64) bool {
	if r.opt.DropOldest {
		return size > r.opt.MaxBytes
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, known := r.tenants[tag]
	if !known {
		return len(r.tenants) >= maxTenants // so that it never will be
	}
	return seen.bytes+size > r.opt.MaxBytes-r.opt.MaxBytes/16
}

// readRoom reads what reserve has answered.
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

// drop takes away originals that made room. Each is in a slot of its own. One that stays behind expires by itself, and nobody is promised that it is gone.
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

// release takes back what was counted for a text that could not be written.
func (r *Redis) release(ctx context.Context, keys redisKeys, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = release.Run(ctx, r.opt.DB, keys.list(), id).Err()
}

// Get returns the text in one round trip, without its bytes where they are near.
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
		_, _ = r.near.Put(ctx, tenant, text) // one that finds no room is not near
	}
	return text, nil
}

// away is why the engine did not do what it was asked.
func away(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

func (r *Redis) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// note keeps what a look at a tenant's count showed.
func (r *Redis) note(tag string, c count, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tenants[tag]; known || len(r.tenants) < maxTenants {
		r.tenants[tag] = c
	}
	r.full = full
}

// Stats tells of the tenants that this process has put for, as of the last time.
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

// Close lets go of what this store holds itself.
func (r *Redis) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return r.codec.close()
}
