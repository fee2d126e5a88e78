package originals

import "github.com/redis/go-redis/v9"

// A tenant's index has a sorted set of ids by expiry, a hash of sizes, and their sum. One script
// changes all three, so they stay consistent with many writers and after a crash.
//
// The clock is the engine's. At most a hundred expired ids are removed at a time, because a script
// blocks all clients.
const expireSome = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function out(id)
  local size = redis.call('HGET', KEYS[2], id)
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
  if size then redis.call('DECRBY', KEYS[3], size) end
end
`

// reserve ID SIZE TTL MAX OLDEST returns {state, originals, bytes, dropped ids…}.
var reserve = redis.NewScript(expireSome + `
local id, size, ttl, max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 100)) do
  if old ~= id then out(old) end
end
local function answer(state, gone)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl * 2) end
  local found = {state, redis.call('ZCARD', KEYS[1]), tonumber(redis.call('GET', KEYS[3]) or '0')}
  for _, old in ipairs(gone) do found[#found + 1] = old end
  return found
end
if redis.call('ZSCORE', KEYS[1], id) then
  redis.call('ZADD', KEYS[1], now + ttl, id)
  return answer(1, {})
end
local gone = {}
local total = tonumber(redis.call('GET', KEYS[3]) or '0')
while total + size > max do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if ARGV[5] ~= '1' or not oldest or #gone >= 1000 then return answer(0, gone) end
  out(oldest)
  gone[#gone + 1] = oldest
  total = tonumber(redis.call('GET', KEYS[3]) or '0')
end
redis.call('ZADD', KEYS[1], now + ttl, id)
redis.call('HSET', KEYS[2], id, size)
redis.call('INCRBY', KEYS[3], size)
return answer(2, gone)
`)

// renew ID TTL extends the life of an original.
var renew = redis.NewScript(`
local time = redis.call('TIME')
local ttl = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], 'XX', time[1] * 1000 + math.floor(time[2] / 1000) + ttl, ARGV[1])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl * 2) end
return 1
`)

// release ID removes an original from the index.
var release = redis.NewScript(expireSome + `
out(ARGV[1])
return 1
`)

// The states that reserve returns.
const (
	reserveFull  = 0
	reserveKnown = 1
	reserveNew   = 2
)

func readReserve(answer []any) (state int64, now count, gone []string) {
	number := func(i int) int64 {
		if i >= len(answer) {
			return 0
		}
		n, _ := answer[i].(int64)
		return n
	}
	for i := 3; i < len(answer); i++ {
		if id, ok := answer[i].(string); ok && isID(id) {
			gone = append(gone, id)
		}
	}
	return number(0), count{number(1), number(2)}, gone
}
