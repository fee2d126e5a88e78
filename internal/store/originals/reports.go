package originals

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// reportEvery is the minimum interval between two log messages of the same kind.
const reportEvery = time.Minute

// WithReports logs originals that a store refused, evicted or could not read. It logs the first one
// at once, then at most once a minute, with counts. Callers of Put and Get need not log these. A
// nil log discards.
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
	refusals  refusals  // guarded by mu; since the last message
	told      time.Time // guarded by mu; time of the last message
	dropped   int64     // guarded by mu; as of the last message
	toldDrops time.Time // guarded by mu
	unread    int       // guarded by mu; unanswered Gets since the last message
	toldReads time.Time // guarded by mu
}

// refusals counts refused Puts by reason.
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

// Get returns the text, and counts failures of the store.
func (r *reported) Get(ctx context.Context, tenant, id string) (string, error) {
	text, err := r.StoreCloser.Get(ctx, tenant, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.notRead(ctx, err)
	}
	return text, err
}

// hasGone reports whether the caller canceled, which is not the store's fault.
func hasGone(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// notRead counts an unreadable text, and logs if it is due.
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

// refused counts a refusal, and logs if it is due.
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
	hint := Stats{Full: true, DiskFull: errors.Is(err, errDiskFull)}.Hint()
	if counts.full == 0 && counts.tooLarge == 0 {
		hint = "look at store.url and store.put_timeout_ms"
	}
	r.log.WarnContext(ctx, "originals not kept, their texts pass whole", "full", counts.full, "too_large", counts.tooLarge,
		"unavailable", counts.unavailable, "bytes", s.Bytes, "max_bytes", s.MaxBytes, "err", err, "hint", hint)
}

// kept logs evictions, if there were any and it is due.
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
