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
	// prefix stands before every key: the program's name and the version of what it keeps.
	prefix  = "secateur:v" + schema + ":"
	schema  = "1"
	version = "secateur:schema" // the key that holds the newest version that was ever at work here

	dialTime = 2 * time.Second
	callTime = time.Second // for an answer, unless the URL says read_timeout; what has a limit of its own is ended by its context
	lookTime = 2 * time.Second
	backTime = 250 * time.Millisecond // between looks at an engine that is away
)

// ErrNewer means that a newer version of the program keeps its things here in a way that this one does not know.
var ErrNewer = errors.New("a newer version of secateur is at work in this Redis")

// Key is where something is kept. The part in braces decides the slot of a Cluster: what has the same tag can be
// touched by one script.
func Key(kind, tag, rest string) string {
	if rest == "" {
		return prefix + kind + ":{" + tag + "}"
	}
	return prefix + kind + ":{" + tag + "}:" + rest
}

// Options say which engine, and who hears of it.
type Options struct {
	URL string
	Log *slog.Logger // nil discards
}

// DB is the engine and whether it answers. It may be used concurrently.
type DB struct {
	redis.UniversalClient

	addr     string                // of the engine, or of one that knows where it is
	probe    redis.UniversalClient // looks, on a connection of its own
	patience time.Duration         // with an answer to a look
	log      *slog.Logger
	stop     context.CancelFunc
	work     sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	err   error      // why it does not answer; nil: it does
	since time.Time
}

// Open names the engine and begins to watch whether it answers. The first look has been taken when Open returns, with
// whatever result; the error is about the URL, or ErrNewer.
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
	if opt.ReadTimeout < 0 { // none: a look has one
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

// silence is for go-redis, which by itself writes a line on standard error for every attempt that fails. What of that an operator needs to know,
// note says.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// Close ends the connections.
func (db *DB) Close() error {
	db.stop()
	db.work.Wait()
	return errors.Join(db.probe.Close(), db.UniversalClient.Close())
}

// Up is nil while the engine answers, or why it does not.
func (db *DB) Up() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.err
}

// watch looks every two seconds, so that what is told is true also while nobody calls, and more often at an engine that is away.
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

// look asks the engine for the version of what is kept there, and writes down ours where there is none or an older one.
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

// note keeps the answer of a look, and says so in the log when it is another than before.
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

// IsAway reports whether an error says that the engine could not be asked, as opposed to what it answered.
func IsAway(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return false
	}
	var answered redis.Error
	var network net.Error
	return !errors.As(err, &answered) || errors.As(err, &network)
}
