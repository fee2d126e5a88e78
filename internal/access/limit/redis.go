package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"secateur/internal/store/redisdb"

	"github.com/redis/go-redis/v9"
)

// Redis counts in an engine that replicas share, by its clock. It needs one round trip per call,
// and two more if concurrent calls are limited.
type Redis struct {
	DB *redisdb.DB

	leases leases
}

// NewRedis counts in an engine. Close it before the engine.
func NewRedis(db *redisdb.DB) *Redis {
	return &Redis{DB: db, leases: leases{db: db, held: map[string][]string{}, over: map[string][]string{}}}
}

// take applies GCRA and the day's sums. It returns {counted, wait, ahead, reason}, with times in
// microseconds.
var take = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local tokens, usd = tonumber(ARGV[3]), tonumber(ARGV[4])
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
if step > 0 and tat + step - now > window then
  return {0, tat + step - now - window, tat - now, 'rate'}
end
if tokens > 0 or usd > 0 then
  local day = math.floor(time[1] / 86400)
  local sums = redis.call('HMGET', KEYS[2], 'day', 'tokens', 'usd')
  if sums[1] == tostring(day) and
    (tokens > 0 and tonumber(sums[2] or '0') >= tokens or usd > 0 and tonumber(sums[3] or '0') >= usd) then
    return {0, ((day + 1) * 86400 - time[1]) * 1000000, tat - now, 'budget'}
  end
end
if step > 0 then
  tat = tat + step
  redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000) + 1000)
end
return {1, 0, tat - now, ''}
`)

var giveBack = redis.NewScript(`
local tat = redis.call('GET', KEYS[1])
if tat then redis.call('SET', KEYS[1], string.format('%.0f', tonumber(tat) - tonumber(ARGV[1])), 'KEEPTTL') end
return 1
`)

var spend = redis.NewScript(`
local day = tostring(math.floor(redis.call('TIME')[1] / 86400))
if redis.call('HGET', KEYS[1], 'day') ~= day then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'day', day)
end
redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[1])
redis.call('HINCRBYFLOAT', KEYS[1], 'usd', ARGV[2])
redis.call('EXPIRE', KEYS[1], 172800)
return 1
`)

// keys returns a bucket's keys, in one hash slot. Keys contain no caller names.
func keys(bucket string) (rate, sums string) {
	return redisdb.Key("l", tagOf(bucket), "rate"), redisdb.Key("l", tagOf(bucket), "day")
}

func leaseKey(bucket string) string { return redisdb.Key("l", tagOf(bucket), "leases") }

func tagOf(bucket string) string {
	sum := sha256.Sum256([]byte(bucket))
	return hex.EncodeToString(sum[:16])
}

// Take counts a call.
func (r *Redis) Take(ctx context.Context, ask Ask) (Answer, error) {
	rate, sums := keys(ask.Bucket)
	answer, err := take.Run(ctx, r.DB, []string{rate, sums}, ask.Step.Microseconds(), ask.Window.Microseconds(), ask.TokensPerDay, ask.USDPerDay).Slice()
	if err != nil {
		return Answer{}, err
	}
	micros := func(i int) time.Duration {
		n, _ := answer[i].(int64)
		return time.Duration(n) * time.Microsecond
	}
	reason, _ := answer[3].(string)
	return Answer{Reason: Reason(reason), Wait: micros(1), Ahead: micros(2)}, nil
}

// GiveBack uncounts a call.
func (r *Redis) GiveBack(ctx context.Context, ask Ask) error {
	rate, _ := keys(ask.Bucket)
	return giveBack.Run(ctx, r.DB, []string{rate}, ask.Step.Microseconds()).Err()
}

// Spend adds to the day's sums.
func (r *Redis) Spend(ctx context.Context, bucket string, tokens int64, usd float64) error {
	_, sums := keys(bucket)
	return spend.Run(ctx, r.DB, []string{sums}, tokens, usd).Err()
}
