package limit

import (
	"slices"
	"time"

	"secateur/internal/access"
)

// limit is one limit with its buckets, guarded by Limits.mu.
type limit struct {
	Settings

	step   time.Duration // cost of one call; 0: no rate
	window time.Duration // how far a bucket may run ahead
	burst  int
	by     struct{ tenant, principal, server, tool, model bool }

	alone *limit // replaces a shared limit while the store is unreachable; nil: refuse all

	*buckets
	swept time.Time // time of the last sweep for idle buckets
}

// buckets are the buckets of a limit, and of its successor on reload.
type buckets struct {
	all   map[key]*bucket
	share access.Share // quota of buckets, by the callers that created them
	rest  *bucket      // overflow bucket for callers without room
}

// maxBuckets limits the buckets of a limit; each caller has a share of them. Beyond its share,
// after a sweep, calls use the overflow bucket.
const maxBuckets = 10_000

// sweepPause is the minimum interval between two sweeps of a full limit.
const sweepPause = time.Second

// key identifies a bucket of a limit.
type key struct{ tenant, issuer, subject, server, tool, model string }

// otherTool replaces all tools that their server does not list.
const otherTool = "other"

func newLimit(s Settings) *limit {
	l := &limit{Settings: s, buckets: &buckets{all: map[key]*bucket{}, rest: &bucket{}}, alone: newAlone(s)}
	if s.Rate.Number > 0 {
		l.step = s.Rate.Per / time.Duration(s.Rate.Number)
		l.burst = s.Burst
		if l.burst == 0 {
			l.burst = s.Rate.Number
		}
		l.window = l.step * time.Duration(l.burst)
	}
	if l.QueueWait == 0 {
		l.QueueWait = defaultQueueWait
	}
	l.by.tenant, l.by.principal = slices.Contains(s.By, ByTenant), slices.Contains(s.By, ByPrincipal)
	l.by.server, l.by.tool, l.by.model = slices.Contains(s.By, ByServer), slices.Contains(s.By, ByTool), slices.Contains(s.By, ByModel)
	return l
}

// takeOver continues with the buckets of the predecessor's limit of the same name. Both may be used
// for a while, under the same lock.
func (l *limit) takeOver(before *Limits) {
	if before == nil {
		return
	}
	for _, old := range before.limits {
		if old.Name == l.Name && old.Shared == l.Shared && slices.Equal(old.By, l.By) {
			l.buckets = old.buckets
		}
	}
}

// key returns the key of a call's bucket.
func (l *limit) key(c Call) (k key) {
	if p := c.Principal; p != nil {
		if l.by.tenant || l.by.principal {
			k.tenant = p.Tenant
		}
		if l.by.principal {
			k.issuer, k.subject = p.Issuer, p.Subject
		}
	}
	if l.by.server || l.by.tool {
		k.server = c.Target.Server
	}
	if l.by.tool {
		if k.tool = c.tool(); c.Unlisted && k.tool != "" {
			k.tool = otherTool
		}
	}
	if l.by.model {
		k.model = c.model()
	}
	return k
}

// bucket finds or creates the call's bucket.
func (l *limit) bucket(c Call, now time.Time) *bucket {
	return l.bucketOf(access.HolderOf(c.Principal), l.key(c), now)
}

func (l *limit) bucketOf(h access.Holder, k key, now time.Time) *bucket {
	if b := l.all[k]; b != nil {
		return b
	}
	if b := l.makeBucket(h, k); b != nil {
		return b
	}
	if now.Sub(l.swept) >= sweepPause {
		l.swept = now
		l.forget(now)
		if b := l.makeBucket(h, k); b != nil {
			return b
		}
	}
	return l.rest
}

// makeBucket creates a bucket within the share of a holder; nil: no room.
func (l *buckets) makeBucket(h access.Holder, k key) *bucket {
	if !l.share.Take(h, 1, maxBuckets) {
		return nil
	}
	b := &bucket{holder: h}
	l.all[k] = b
	return b
}

// forget deletes idle buckets.
func (l *buckets) forget(now time.Time) {
	for k, b := range l.all {
		if b.isIdle(now) {
			delete(l.all, k)
			l.share.Give(b.holder, 1)
		}
	}
}

// over returns how long a bucket must wait before its next call, and why.
func (l *limit) over(b *bucket, now time.Time) (time.Duration, Reason) {
	if l.step > 0 {
		if wait := b.arrival(now).Add(l.step).Sub(now) - l.window; wait > 0 {
			return wait, ReasonRate
		}
	}
	if b.day == dayOf(now) && (l.TokensPerDay > 0 && b.tokens >= l.TokensPerDay || l.USDPerDay > 0 && b.usd >= l.USDPerDay) {
		return now.UTC().Truncate(day).Add(day).Sub(now), ReasonBudget
	}
	return 0, ""
}

func (l *limit) state(b *bucket, now time.Time) State { return l.stateAhead(b.arrival(now).Sub(now)) }

// stateAhead returns the state of a bucket that will be full again after this time.
func (l *limit) stateAhead(ahead time.Duration) State {
	if l.step == 0 {
		return State{}
	}
	return State{Limit: l.burst, Remaining: int((l.window - ahead) / l.step), Reset: ahead}
}
