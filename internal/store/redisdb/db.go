package redisdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// prefix starts every key: the program's name and its schema version.
	prefix  = "secateur:v" + schema + ":"
	schema  = "1"
	version = "secateur:schema" // key of the newest schema version ever used here

	dialTime = 2 * time.Second
	// response timeout, unless the URL sets read_timeout; contexts may end calls earlier
	callTime = time.Second
	lookTime = 2 * time.Second
	backTime = 250 * time.Millisecond // between probes of an engine that is down
)

// ErrNewer means that a newer version of the program uses this engine with an unknown schema.
var ErrNewer = errors.New("a newer version of secateur is at work in this Redis")

// Key returns the key for a value. The part in braces decides the hash slot in a Cluster: one
// script can access all keys with the same tag.
func Key(kind, tag, rest string) string {
	if rest == "" {
		return prefix + kind + ":{" + tag + "}"
	}
	return prefix + kind + ":{" + tag + "}:" + rest
}

// Options configure a DB.
type Options struct {
	URL string
	Log *slog.Logger // nil discards
}

// DB is the engine, and whether it answers. It is safe for concurrent use.
type DB struct {
	redis.UniversalClient

	addr     string                // of the engine, or of a node that knows it
	probe    redis.UniversalClient // probes on a separate connection
	patience time.Duration         // timeout of a probe
	log      *slog.Logger
	stop     context.CancelFunc
	work     sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	err   error      // why it does not answer; nil: it does
	since time.Time
}

// Open connects to the engine and starts to probe it. The first probe is complete when Open
// returns, whatever its result. The error is about the URL, or ErrNewer.
func Open(ctx context.Context, o Options) (*DB, error) {
	opt, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	opt.ClientName = "secateur"
	opt.ContextTimeoutEnabled = true
	opt.MaxRetries = 1
	opt.DialerRetries = 1
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	setDefault(&opt.DialTimeout, dialTime)
	setDefault(&opt.ReadTimeout, callTime)
	setDefault(&opt.WriteTimeout, callTime)
	redis.SetLogger(silence{})
	looksFor := opt.ReadTimeout
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	if opt.ReadTimeout < 0 { // no read timeout: a probe still needs one
		looksFor = callTime
	}
	looks := *opt
	looks.PoolSize = 2
	db := &DB{UniversalClient: redis.NewUniversalClient(opt), addr: opt.Addrs[0], probe: redis.NewUniversalClient(&looks), patience: looksFor, log: o.Log, stop: stop, since: time.Now()}
	db.AddHook(breaker{db})
	if err := db.look(ctx); errors.Is(err, ErrNewer) {
		return nil, errors.Join(err, db.Close())
	}
	db.work.Go(func() { db.watch(life) })
	return db, nil
}

// silence disables the log of go-redis, which writes a line to standard error for every failed
// attempt. note logs what operators need.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// Close closes the connections.
func (db *DB) Close() error {
	db.stop()
	db.work.Wait()
	return errors.Join(db.probe.Close(), db.UniversalClient.Close())
}

// Up returns nil while the engine answers, else the reason.
func (db *DB) Up() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.err
}

// watch probes every two seconds, so that the state is correct even without calls. It probes more
// often while the engine is down.
func (db *DB) watch(ctx context.Context) {
	for {
		wait := lookTime
		if db.Up() != nil {
			wait = backTime
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			_ = db.look(ctx)
		}
	}
}

// look reads the schema version in the engine, and writes ours if there is none.
func (db *DB) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.patience)
	defer cancel()
	there, err := db.probe.Get(ctx, version).Result()
	if errors.Is(err, redis.Nil) {
		there, err = schema, db.probe.Set(ctx, version, schema, 0).Err()
	}
	if n, bad := strconv.Atoi(there); err == nil && (bad != nil || n > 1) {
		err = fmt.Errorf("%w: it writes version %s, this one knows %s", ErrNewer, there, schema)
	}
	db.note(ctx, err)
	return err
}

// note records the result of a probe, and logs changes.
func (db *DB) note(ctx context.Context, err error) {
	db.mu.Lock()
	was, since := db.err, db.since
	db.err = err
	if (was == nil) != (err == nil) {
		db.since = time.Now()
	}
	db.mu.Unlock()
	switch {
	case was == nil && err != nil:
		db.log.WarnContext(ctx, "redis does not answer: nothing is cut that could not be recovered, shared limits count here alone", "err", err)
	case was != nil && err == nil:
		db.log.InfoContext(ctx, "redis answers again", "after_s", int(time.Since(since).Seconds()))
	}
}

// IsAway reports whether an error means that the engine was unreachable, as opposed to an error
// response.
func IsAway(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return false
	}
	var answered redis.Error
	var network net.Error
	return !errors.As(err, &answered) || errors.As(err, &network)
}
