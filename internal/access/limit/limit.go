package limit

import (
	"slices"
	"time"

	"secateur/internal/access"
)

// limit is one limit with its buckets, which are guarded by Limits.
type limit struct {
	Settings

	step   time.Duration // what one call costs; 0: no rate
	window time.Duration // how far a bucket may run ahead
	burst  int
	by     struct{ tenant, principal, server, tool, model bool }

	alone *limit // what holds of a shared one while the store is away; nil: nothing is allowed

	*buckets
	swept time.Time // when buckets with nothing to answer for were last forgotten
}

// buckets are those of a limit, and of the limit that takes its place.
type buckets struct {
	all   map[key]*bucket
	share access.Share // of the buckets, by the callers whose calls have made them
	rest  *bucket      // shared by those for whom there was no room
}

// maxBuckets bounds how many a limit has, and no caller makes them all. Beyond its share, and beyond what can be forgotten, the rest shares one.
const maxBuckets = 10_000

// sweepPause is how often at most a full limit looks for buckets to forget.
const sweepPause = time.Second

// key tells the buckets of a limit apart.
type key struct{ tenant, issuer, subject, server, tool, model string }

// otherTool stands for all tools that their server does not list.
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

// takeOver has the limit go on with the buckets of the one of its name. Both may be used for a while, under the same lock.
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

// key is whose bucket a call falls into.
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

// bucket finds the call's bucket or makes it.
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

// makeBucket makes a bucket within the share of a holder; nil: there is no room.
func (l *buckets) makeBucket(h access.Holder, k key) *bucket {
	if !l.share.Take(h, 1, maxBuckets) {
		return nil
	}
	b := &bucket{holder: h}
	l.all[k] = b
	return b
}

// forget takes out the buckets with nothing to answer for.
func (l *buckets) forget(now time.Time) {
	for k, b := range l.all {
		if b.isIdle(now) {
			delete(l.all, k)
			l.share.Give(b.holder, 1)
		}
	}
}

// over is how long a bucket has to wait before it may be used again.
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

// stateAhead is the state of a bucket that will be full again after so long.
func (l *limit) stateAhead(ahead time.Duration) State {
	if l.step == 0 {
		return State{}
	}
	return State{Limit: l.burst, Remaining: int((l.window - ahead) / l.step), Reset: ahead}
}
