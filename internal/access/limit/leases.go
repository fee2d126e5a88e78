package limit

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// Concurrent calls hold leases in a sorted set, scored by expiry. A script takes a lease if there
// is room. It is renewed while the call runs and released at its end. Leases of a killed replica
// expire, as do those that could not be released. All times are the engine's.
const (
	leaseLife  = 15 * time.Second
	leaseRenew = 5 * time.Second
	renewWait  = 2 * time.Second

	overAgain = time.Second // between attempts to release leftover leases
	maxOver   = 10_000      // limit on leftover leases
)

// enterScript takes a lease if fewer than ARGV[2] are held. It returns 1 if taken.
var enterScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`)

// renewScript extends leases, and returns those that are missing.
var renewScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local missing = {}
for i = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i])
  else
    missing[#missing + 1] = ARGV[i]
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return missing
`)

// againScript takes leases again that an engine has lost while their calls still run.
var againScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`)

// leases tracks the leases of this process. A keeper goroutine renews them as long as there are
// any.
type leases struct {
	db *redisdb.DB

	mu   sync.Mutex          // guards the fields below
	held map[string][]string // lease ids, by key
	// leftover ids: no call holds them, but the engine may (its response was lost)
	over    map[string][]string
	overs   int                // number of leftover ids
	stop    context.CancelFunc // stops the keeper; nil: none runs
	closed  bool
	keepers sync.WaitGroup
}

// Enter takes one of most slots of a bucket. leave is nil if all are taken. Otherwise the caller
// calls it once, at the end of the call.
func (r *Redis) Enter(ctx context.Context, bucket string, most int) (leave func(context.Context), err error) {
	key, id := leaseKey(bucket), rand.Text()
	taken, err := enterScript.Run(ctx, r.DB, []string{key}, id, most, leaseLife.Milliseconds()).Int()
	if err != nil {
		if r.DB.Up() == nil { // else the engine was not asked
			r.leases.owe(key, id) //nolint:contextcheck // outlives the call
		}
		return nil, err
	}
	if taken == 0 {
		return nil, nil
	}
	r.leases.hold(key, id) //nolint:contextcheck // outlives the call
	return func(ctx context.Context) {
		r.leases.drop(key, id)
		if r.DB.ZRem(ctx, key, id).Err() != nil {
			r.leases.owe(key, id) //nolint:contextcheck // outlives the call
		}
	}, nil
}

// Close stops renewing leases.
func (r *Redis) Close() error {
	l := &r.leases
	l.mu.Lock()
	l.closed = true
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	l.keepers.Wait()
	return nil
}

func (l *leases) hold(key, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = append(l.held[key], id)
	l.keepLocked()
}

// owe schedules the release of a lease. Beyond maxOver, leases just expire.
func (l *leases) owe(key, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.overs >= maxOver {
		return
	}
	l.overs++
	l.over[key] = append(l.over[key], id)
	l.keepLocked()
}

// keepLocked starts the keeper if none runs.
func (l *leases) keepLocked() {
	if l.stop == nil && !l.closed {
		ctx, stop := context.WithCancel(context.Background())
		l.stop = stop
		l.keepers.Go(func() { l.keep(ctx) })
	}
}

func (l *leases) drop(key, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = slices.DeleteFunc(l.held[key], func(held string) bool { return held == id })
	if len(l.held[key]) == 0 {
		delete(l.held, key)
	}
}

// keep renews held leases and releases leftover ones, until there are none or ctx is done.
func (l *leases) keep(ctx context.Context) {
	tick := time.NewTicker(overAgain)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		held, over := l.snapshot()
		if held == nil && over == nil {
			return
		}
		l.settle(ctx, over)
		if time.Since(renewed) >= leaseRenew {
			renewed = time.Now()
			_ = l.renew(ctx, held) // the engine's owner reports whether it answers
		}
	}
}

// snapshot copies held and leftover leases. If there are none it stops the keeper; the next lease
// starts a new one.
func (l *leases) snapshot() (held, over map[string][]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 && len(l.over) == 0 {
		l.stop()
		l.stop = nil
		return nil, nil
	}
	return copied(l.held), copied(l.over)
}

func copied(ids map[string][]string) map[string][]string {
	all := make(map[string][]string, len(ids))
	for key, some := range ids {
		all[key] = slices.Clone(some)
	}
	return all
}

// settle releases leftover leases. It keeps those for which the engine gives no answer.
func (l *leases) settle(ctx context.Context, over map[string][]string) {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	for key, ids := range over {
		if redisdb.IsAway(l.db.ZRem(ctx, key, ids).Err()) {
			return
		}
		l.mu.Lock()
		l.overs -= len(l.over[key])
		l.over[key] = slices.DeleteFunc(l.over[key], func(id string) bool { return slices.Contains(ids, id) })
		l.overs += len(l.over[key])
		if len(l.over[key]) == 0 {
			delete(l.over, key)
		}
		l.mu.Unlock()
	}
}

// renew extends the leases.
func (l *leases) renew(ctx context.Context, all map[string][]string) error {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	for key, ids := range all {
		missing, err := renewScript.Run(ctx, l.db, []string{key}, leaseWords(ids)...).StringSlice()
		if err == nil {
			err = l.takeAgain(ctx, key, l.stillHeld(key, missing))
		}
		if redisdb.IsAway(err) {
			return err
		}
	}
	return nil
}

// takeAgain takes leases again that the engine has lost. It releases those whose calls have ended
// meanwhile.
func (l *leases) takeAgain(ctx context.Context, key string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	err := againScript.Run(ctx, l.db, []string{key}, leaseWords(ids)...).Err()
	held := l.stillHeld(key, ids)
	for _, id := range ids {
		if !slices.Contains(held, id) {
			err = errors.Join(err, l.db.ZRem(ctx, key, id).Err())
		}
	}
	return err
}

// stillHeld returns which of the leases are held now.
func (l *leases) stillHeld(key string, ids []string) (held []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if slices.Contains(l.held[key], id) {
			held = append(held, id)
		}
	}
	return held
}

func leaseWords(ids []string) []any {
	words := []any{leaseLife.Milliseconds()}
	for _, id := range ids {
		words = append(words, id)
	}
	return words
}
