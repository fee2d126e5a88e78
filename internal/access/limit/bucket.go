package limit

import (
	"context"
	"slices"
	"time"

	"secateur/internal/access"
)

// bucket is what one limit remembers of one key.
type bucket struct {
	holder access.Holder // whose call has made it

	// tat is the theoretical arrival time of the generic cell rate algorithm (GCRA): when all calls so far would be paid off at
	// one a step.
	tat time.Time

	running int
	waiting []chan struct{} // first come, first served; a closed one has been handed a slot, one of a shared limit is told to look for one

	day    int64
	tokens int64
	usd    float64
}

const day = 24 * time.Hour

func dayOf(t time.Time) int64 { return t.Unix() / int64(day/time.Second) }

// arrival is when the bucket would be full again, now at the earliest.
func (b *bucket) arrival(now time.Time) time.Time {
	if b.tat.Before(now) {
		return now
	}
	return b.tat
}

// isIdle reports whether forgetting the bucket changes nothing.
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

// leave gives a slot to whoever waits longest, or frees it.
func (b *bucket) leave() {
	if len(b.waiting) > 0 {
		next := b.waiting[0]
		b.waiting = slices.Delete(b.waiting, 0, 1)
		close(next)
		return
	}
	b.running--
}

// enter takes a slot, waiting for one where the queue has room.
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
		b.leave() // the slot came while it gave up
	}
	return slot{}, refusal
}

// busy is the refusal where all slots are taken.
func (l *limit) busy() *Refusal {
	return &Refusal{Limit: l.Name, Reason: ReasonConcurrency, RetryAfter: time.Second}
}

// Usage is how a bucket stands, for those who run the program.
type Usage struct {
	Limit     string
	Key       []string // the values of by, in its order
	Remaining int      // 0 where there is no rate
	Reset     time.Duration
	InFlight  int
	Queued    int

	Settings Settings // of the limit
	Burst    int      // how many calls there is room for at most; 0 where there is no rate
	Tokens   int64    // spent today
	USD      float64
}

// Usage lists the buckets that are in use, limit by limit.
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
