package limit

import (
	"context"
	"time"
)

// Store counts for limits that replicas share: rates by GCRA, concurrent calls, and the day's sums.
type Store interface {
	// Take counts a call of a bucket, unless the limit is reached.
	Take(ctx context.Context, ask Ask) (Answer, error)
	// GiveBack uncounts a call that another limit refused.
	GiveBack(ctx context.Context, ask Ask) error
	// Spend adds to the day's sums of a bucket.
	Spend(ctx context.Context, bucket string, tokens int64, usd float64) error
	// Enter takes one of most slots of a bucket. leave is nil if all are taken. Otherwise the
	// caller calls it once, at the end of the call.
	Enter(ctx context.Context, bucket string, most int) (leave func(context.Context), err error)
}

// Ask is a call to count in one bucket of a limit.
type Ask struct {
	Bucket       string
	Step         time.Duration // cost of a call; 0: no rate
	Window       time.Duration // how far a bucket may run ahead
	TokensPerDay int64         // 0: unlimited
	USDPerDay    float64       // 0: unlimited
}

// Answer is the state of the bucket.
type Answer struct {
	Reason Reason        // why the call was refused; "": it was counted
	Wait   time.Duration // time until it would be allowed
	Ahead  time.Duration // time until the bucket is full again
}

// storeWait is the default of Options.StoreWait.
const storeWait = 250 * time.Millisecond

// spendWait is the timeout for writing a day's sum. The response has been sent by then.
const spendWait = 2 * time.Second

func (l *limit) ask(c Call) Ask {
	return Ask{Bucket: l.Name + "\x00" + l.key(c).text(), Step: l.step, Window: l.window, TokensPerDay: l.TokensPerDay, USDPerDay: l.USDPerDay}
}

func (k key) text() string {
	const sep = "\x00"
	return k.tenant + sep + k.issuer + sep + k.subject + sep + k.server + sep + k.tool + sep + k.model
}

// takeShared asks the store for every shared limit, and returns what was counted there.
func (l *Limits) takeShared(ctx context.Context, about []int, c Call, least *State) (taken []Ask, refusal *Refusal) {
	if l.store == nil {
		return nil, nil
	}
	for _, i := range about {
		lim := l.limits[i]
		if !lim.Shared || lim.step == 0 && lim.TokensPerDay == 0 && lim.USDPerDay == 0 {
			continue
		}
		ask := lim.ask(c)
		answer, err := l.askStore(ctx, ask)
		switch {
		case err != nil:
			refusal = l.withoutStore(lim, c, least)
		case answer.Reason != "":
			refusal = &Refusal{Limit: lim.Name, Reason: answer.Reason, RetryAfter: answer.Wait, State: lim.stateAhead(answer.Ahead)}
		default:
			taken = append(taken, ask)
			least.keepLeast(lim.stateAhead(answer.Ahead))
		}
		if refusal != nil {
			l.giveBack(ctx, taken)
			return nil, refusal
		}
	}
	return taken, nil
}

func (l *Limits) askStore(ctx context.Context, ask Ask) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	return l.store.Take(ctx, ask)
}

// withoutStore applies this replica's part of the rate while the store is unreachable. Without such
// a part it refuses.
func (l *Limits) withoutStore(lim *limit, c Call, least *State) *Refusal {
	if lim.alone == nil {
		return &Refusal{Limit: lim.Name, Reason: ReasonRate, RetryAfter: time.Second}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b := lim.alone.bucket(c, now)
	if wait, reason := lim.alone.over(b, now); wait > 0 {
		return &Refusal{Limit: lim.Name, Reason: reason, RetryAfter: wait, State: lim.alone.state(b, now)}
	}
	b.tat = b.arrival(now).Add(lim.alone.step)
	least.keepLeast(lim.alone.state(b, now))
	return nil
}

// newAlone returns the limit of one replica while the store is unreachable; nil: refuse all.
func newAlone(s Settings) *limit {
	if !s.Shared || s.WithoutStore <= 0 || s.Rate.Number == 0 {
		return nil
	}
	whole := newLimit(Settings{Name: s.Name, By: s.By, Rate: s.Rate, Burst: s.Burst})
	whole.step = time.Duration(float64(whole.step) / s.WithoutStore)
	whole.burst = max(1, int(float64(whole.burst)*s.WithoutStore))
	whole.window = whole.step * time.Duration(whole.burst)
	return whole
}

// giveBack uncounts calls that another limit refused. If the store fails, they stay counted.
func (l *Limits) giveBack(ctx context.Context, taken []Ask) {
	if len(taken) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.wait)
	defer cancel()
	for _, ask := range taken {
		_ = l.store.GiveBack(ctx, ask)
	}
}

// spendShared adds to the day's sums in the store.
func (l *Limits) spendShared(lim *limit, c Call, tokens int64, usd float64) error {
	ctx, cancel := context.WithTimeout(context.Background(), spendWait)
	defer cancel()
	return l.store.Spend(ctx, lim.ask(c).Bucket, tokens, usd)
}
