package records

import (
	"context"
	"sync"

	"secateur/internal/store/redisdb"

	"github.com/redis/go-redis/v9"
)

// costInRedis is the overhead of a value in an engine: key, expiry and index entry. Counting it
// limits the number of tiny values.
const costInRedis = 384

// charge TTL [ID SIZE]… counts values of a tenant and returns its total bytes. The index is a
// sorted set of ids by expiry, a hash of their sizes, and the sum of these. The clock is the
// engine's. Expired ids are removed in batches, because a script blocks all clients.
var charge = redis.NewScript(`
local time = redis.call('TIME')
local now, ttl = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(ARGV[1])
local more = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 200)) do
  more = more - tonumber(redis.call('HGET', KEYS[2], id) or '0')
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
for i = 2, #ARGV, 2 do
  more = more + tonumber(ARGV[i + 1]) - tonumber(redis.call('HGET', KEYS[2], ARGV[i]) or '0')
  redis.call('ZADD', KEYS[1], now + ttl, ARGV[i])
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
local total = redis.call('INCRBY', KEYS[3], more)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl * 2) end
return total
`)

// rooms enforces each tenant's quota in an engine. A value counts from its last write until it
// expires. The round trip that writes it also counts it, so replicas may exceed the quota by a few
// values. After that the engine is asked first.
type rooms struct {
	mu   sync.Mutex
	full map[string]bool // guarded by mu; tags of tenants that were full at the last count
}

// charging is a pending count.
type charging struct {
	tag    string
	full   bool // no room: nothing is counted
	args   []any
	answer *redis.Cmd
}

func (c *charging) keys() []string {
	return []string{redisdb.Key("ri", c.tag, "moments"), redisdb.Key("ri", c.tag, "sizes"), redisdb.Key("ri", c.tag, "total")}
}

// newCharging starts a count for the tenant of a key.
func (r *Redis) newCharging(key string) *charging {
	tenant := ""
	if r.tenant != nil {
		tenant = r.tenant(key)
	}
	return &charging{tag: nameOf("tenant " + tenant)[:16], args: []any{r.ttl.Milliseconds()}}
}

func (c *charging) add(key string, size int) { c.args = append(c.args, nameOf(key), size+costInRedis) }

// hasRoom reports whether a tenant may write. It asks the engine only if the tenant was full
// before.
func (r *Redis) hasRoom(ctx context.Context, c *charging) bool {
	r.rooms.mu.Lock()
	full := r.rooms.full[c.tag]
	r.rooms.mu.Unlock()
	if !full {
		return true
	}
	total, err := charge.Run(ctx, r.db, c.keys(), c.args[0]).Int64()
	r.noteTotal(c, total, err)
	return err == nil && total < r.room
}

// settle reads a count from another pipeline. It loads the script again after a restart of the
// engine.
func (r *Redis) settle(ctx context.Context, c *charging) {
	if redis.HasErrorPrefix(c.answer.Err(), "NOSCRIPT") {
		c.answer = charge.Eval(ctx, r.db, c.keys(), c.args...)
	}
	total, err := c.answer.Int64()
	r.noteTotal(c, total, err)
}

func (r *Redis) noteTotal(c *charging, total int64, err error) {
	if err != nil { // state unchanged
		return
	}
	r.rooms.mu.Lock()
	defer r.rooms.mu.Unlock()
	if total < r.room {
		delete(r.rooms.full, c.tag)
		return
	}
	if r.rooms.full == nil {
		r.rooms.full = map[string]bool{}
	}
	r.rooms.full[c.tag] = true
}
