package limit

import (
	"context"
	"slices"
	"time"

	"secateur/internal/access"
)

// bucket is the state of one limit for one key.
type bucket struct {
	holder access.Holder // caller whose call created it

	// tat is the theoretical arrival time of GCRA: when all calls so far would be paid off at one
	// per step.
	tat time.Time

	running int
	// FIFO; closing a channel hands over a slot; a message on it (shared limits) means: try now
	waiting []chan struct{}

	day    int64
	tokens int64
	usd    float64
}

const day = 24 * time.Hour

func dayOf(t time.Time) int64 { return t.Unix() / int64(day/time.Second) }

// arrival returns the theoretical arrival time, but not before now.
func (b *bucket) arrival(now time.Time) time.Time {
	if b.tat.Before(now) {
		return now
	}
	return b.tat
}

// isIdle reports whether the bucket can be forgotten without effect.
func (b *bucket) isIdle(now time.Time) bool {
	return b.tat.Before(now) && b.running == 0 && len(b.waiting) == 0 && b.day != dayOf(now)
}

func (b *bucket) spend(now time.Time, tokens int64, usd float64) {
	if today := dayOf(now); b.day != today {
		b.day, b.tokens, b.usd = today, 0, 0
	}
	b.tokens += tokens
	b.usd += usd
}

// leave hands the slot to the longest waiting call, or frees it.
func (b *bucket) leave() {
	if len(b.waiting) > 0 {
		next := b.waiting[0]
		b.waiting = slices.Delete(b.waiting, 0, 1)
		close(next)
		return
	}
	b.running--
}

// enter takes a slot, and waits for one if the queue has room.
func (l *Limits) enter(ctx context.Context, lim *limit, c Call) (slot, *Refusal) {
	l.mu.Lock()
	b := lim.bucket(c, time.Now())
	if b.running < lim.Concurrent {
		b.running++
		l.mu.Unlock()
		return slot{bucket: b}, nil
	}
	refusal := lim.busy()
	if len(b.waiting) >= lim.Queue {
		l.mu.Unlock()
		return slot{}, refusal
	}
	turn := make(chan struct{})
	b.waiting = append(b.waiting, turn)
	l.mu.Unlock()

	patience := time.NewTimer(lim.QueueWait)
	defer patience.Stop()
	select {
	case <-turn:
		return slot{bucket: b}, nil
	case <-ctx.Done():
	case <-patience.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(b.waiting, turn); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	} else {
		b.leave() // the slot arrived while the call gave up
	}
	return slot{}, refusal
}

// busy returns the refusal for a limit without free slots.
func (l *limit) busy() *Refusal {
	return &Refusal{Limit: l.Name, Reason: ReasonConcurrency, RetryAfter: time.Second}
}

// Usage is the state of a bucket, for operators.
type Usage struct {
	Limit     string
	Key       []string // the values of by, in its order
	Remaining int      // 0 if there is no rate
	Reset     time.Duration
	InFlight  int
	Queued    int

	Settings Settings // of the limit
	Burst    int      // maximum burst of calls; 0 if there is no rate
	Tokens   int64    // spent today
	USD      float64
}

// Usage lists the buckets in use, limit by limit.
func (l *Limits) Usage() (list []Usage) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, lim := range l.limits {
		for k, b := range lim.all {
			if b.isIdle(now) {
				continue
			}
			s := lim.state(b, now)
			u := Usage{
				Limit: lim.Name, Key: lim.words(k), Remaining: s.Remaining, Reset: s.Reset, InFlight: b.running, Queued: len(b.waiting),
				Settings: lim.Settings, Burst: s.Limit,
			}
			if b.day == dayOf(now) {
				u.Tokens, u.USD = b.tokens, b.usd
			}
			list = append(list, u)
		}
	}
	return list
}

func (l *limit) words(k key) (words []string) {
	for _, by := range l.By {
		switch by {
		case ByTenant:
			words = append(words, k.tenant)
		case ByPrincipal:
			words = append(words, k.subject)
		case ByServer:
			words = append(words, k.server)
		case ByTool:
			words = append(words, k.server+"::"+k.tool)
		case ByModel:
			words = append(words, k.model)
		}
	}
	return words
}
