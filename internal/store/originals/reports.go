package originals

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// reportEvery is how often the operator hears of originals that cannot be kept.
const reportEvery = time.Minute

// WithReports logs what a store could not keep, or dropped to keep something else: the first time at once, then once a
// minute at most, with counts of what came together meanwhile; the same for what it could not be asked for. Whoever calls Put or Get need not log
// it. Log nil discards.
func WithReports(store StoreCloser, log *slog.Logger) StoreCloser {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &reported{StoreCloser: store, log: log}
}

type reported struct {
	StoreCloser
	log *slog.Logger

	mu        sync.Mutex
	refusals  refusals  // guarded by mu; since they were last told
	told      time.Time // guarded by mu; when that was
	dropped   int64     // guarded by mu; as of when they were last told
	toldDrops time.Time // guarded by mu
	unread    int       // guarded by mu; Gets that got no answer since they were last told
	toldReads time.Time // guarded by mu
}

// refusals counts the Puts that were not kept, by reason.
type refusals struct{ full, tooLarge, unavailable int }

func (r *reported) Put(ctx context.Context, tenant, text string) (string, error) {
	id, err := r.StoreCloser.Put(ctx, tenant, text)
	if err != nil {
		r.refused(ctx, err)
	} else {
		r.kept(ctx)
	}
	return id, err
}

// Get returns the text, and counts where the store could not be asked.
func (r *reported) Get(ctx context.Context, tenant, id string) (string, error) {
	text, err := r.StoreCloser.Get(ctx, tenant, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.notRead(ctx, err)
	}
	return text, err
}

// hasGone tells that whoever asked waits no longer, of which no store is the cause.
func hasGone(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// notRead counts a text that could not be asked for and tells, where it is time to.
func (r *reported) notRead(ctx context.Context, err error) {
	if hasGone(ctx) {
		return
	}
	r.mu.Lock()
	r.unread++
	count := r.unread
	due := time.Since(r.toldReads) >= reportEvery
	if due {
		r.unread, r.toldReads = 0, time.Now()
	}
	r.mu.Unlock()
	if due {
		r.log.WarnContext(ctx, "originals not read, the store does not answer", "count", count, "err", err)
	}
}

// refused counts a refusal and tells, where it is time to.
func (r *reported) refused(ctx context.Context, err error) {
	if hasGone(ctx) {
		return
	}
	r.mu.Lock()
	switch {
	case errors.Is(err, ErrFull):
		r.refusals.full++
	case errors.Is(err, ErrTooLarge):
		r.refusals.tooLarge++
	default:
		r.refusals.unavailable++
	}
	if time.Since(r.told) < reportEvery {
		r.mu.Unlock()
		return
	}
	counts := r.refusals
	r.refusals, r.told = refusals{}, time.Now()
	r.mu.Unlock()
	s := r.Stats()
	hint := "raise store.max_bytes, or set store.when_full = \"oldest\" to drop what was not used for longest"
	if counts.full == 0 && counts.tooLarge == 0 {
		hint = "look at store.url and store.put_timeout_ms"
	}
	r.log.WarnContext(ctx, "originals not kept, their texts pass whole", "full", counts.full, "too_large", counts.tooLarge,
		"unavailable", counts.unavailable, "bytes", s.Bytes, "max_bytes", s.MaxBytes, "err", err, "hint", hint)
}

// kept tells of what was dropped for it, where something was and it is time to.
func (r *reported) kept(ctx context.Context) {
	s := r.Stats()
	r.mu.Lock()
	count := s.Dropped - r.dropped
	if count <= 0 || time.Since(r.toldDrops) < reportEvery {
		r.mu.Unlock()
		return
	}
	r.dropped, r.toldDrops = s.Dropped, time.Now()
	r.mu.Unlock()
	r.log.InfoContext(ctx, "originals dropped to make room, the least recently used first", "count", count,
		"bytes", s.Bytes, "max_bytes", s.MaxBytes)
}
