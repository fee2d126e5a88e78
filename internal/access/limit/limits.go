package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"secateur/internal/access"
)

// Limits are the limits of all doors. Every one that matches a call counts; a call that one of them refuses is counted by none of
// the rates. The nil *Limits allows everything. It is safe for concurrent use.
type Limits struct {
	rules  *access.Rules // which limits are about a call
	limits []*limit
	store  Store         // counts for those that are shared; nil: there are none
	wait   time.Duration // for the store's answer

	mu *sync.Mutex // guards the buckets of all limits, and of those whose place they have taken
}

// Options make Limits.
type Options struct {
	PerMinute int // of each principal; rate_limit_per_minute; 0: none
	Settings  []Settings
	Store     Store         // for limits that are shared; nil: these are counted here alone
	StoreWait time.Duration // how long a call waits for the store before that counts as away; 0: 250 ms

	// Replaces are the limits whose place these take; nil: none. A limit of the same name that tells calls apart by the same goes on where
	// the old one was: what it has counted is not forgotten, and calls under way still hold their slots.
	Replaces *Limits
}

// ShorthandName is the name of the limit that rate_limit_per_minute sets.
const ShorthandName = "rate_limit_per_minute"

// New makes Limits of valid settings. Without any it is nil, which allows everything.
func New(opt Options) (*Limits, error) {
	settings := make([]Settings, 0, len(opt.Settings)+1)
	if opt.PerMinute > 0 {
		settings = append(settings, Settings{Name: ShorthandName, By: []string{ByPrincipal}, Rate: Rate{opt.PerMinute, time.Minute}})
	}
	for i, s := range opt.Settings {
		s.Name = SettingsName(s, i)
		settings = append(settings, s)
	}
	if len(settings) == 0 {
		return nil, nil // nil allows everything
	}
	if opt.StoreWait <= 0 {
		opt.StoreWait = storeWait
	}
	l := &Limits{store: opt.Store, wait: opt.StoreWait, mu: &sync.Mutex{}}
	if opt.Replaces != nil {
		l.mu = opt.Replaces.mu
	}
	rules := make([]access.Rule, len(settings))
	for i, s := range settings {
		rules[i] = s.rule()
		l.limits = append(l.limits, newLimit(s))
		l.limits[i].takeOver(opt.Replaces)
	}
	var err error
	if l.rules, err = access.NewRules(rules, false); err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	return l, nil
}

// Call is what is limited.
type Call struct {
	Principal *access.Principal
	Target    access.Target

	Unlisted bool // its server lists no such tool to the caller: all such calls are of one bucket
	View     bool // it only looks at the control plane: limits that do not name that door leave it alone
}

// Refusal says which limit a call is over, and when to try again.
type Refusal struct {
	Limit      string
	Reason     Reason
	RetryAfter time.Duration
	State      State
}

// Reason is the kind of limit.
type Reason string

// The reasons.
const (
	ReasonRate        Reason = "rate"
	ReasonConcurrency Reason = "concurrency"
	ReasonBudget      Reason = "budget"
)

// State is what headers tell of the bucket with least left. The zero value means that no rate was asked.
type State struct {
	Limit     int           // calls at once after a pause
	Remaining int           // calls that would be allowed now
	Reset     time.Duration // until it is full again
}

// IsZero reports whether there is nothing to tell.
func (s State) IsZero() bool { return s.Limit == 0 }

// Grant is a call that may go ahead. Its holder calls Release when the call is over.
type Grant struct {
	State State

	limits *Limits
	held   []slot
}

// slot is one of a bucket that a call holds.
type slot struct {
	bucket *bucket
	shared bool   // its limit is
	leave  func() // gives it back to the store; nil: it is this process's
}

// Take counts a call and waits for its turn where calls at a time are limited. A nil Refusal means that it may go ahead.
func (l *Limits) Take(ctx context.Context, c Call) (Grant, *Refusal) {
	if l == nil {
		return Grant{}, nil
	}
	var room [usualLimits]int
	about := l.rules.AppendMatching(room[:0], c.Principal, c.Target)
	if c.View {
		about = slices.DeleteFunc(about, func(i int) bool { return len(l.limits[i].Door) == 0 })
	}
	grant := Grant{limits: l}
	if refusal := l.count(ctx, about, c, &grant.State); refusal != nil {
		return Grant{}, refusal
	}
	// Slots are taken in the order of the limits, so that no two calls can wait for each other.
	for _, i := range about {
		if l.limits[i].Concurrent == 0 {
			continue
		}
		enter := l.enter
		if !l.isHere(l.limits[i]) {
			enter = l.enterShared
		}
		taken, refusal := enter(ctx, l.limits[i], c)
		if refusal != nil {
			grant.Release()
			return Grant{}, refusal
		}
		grant.held = append(grant.held, taken)
	}
	return grant, nil
}

// usualLimits is how many limits may be about a call before their list is allocated.
const usualLimits = 8

// Check is Take that counts nothing and waits for nothing, the store included.
func (l *Limits) Check(c Call) *Refusal {
	if l == nil {
		return nil
	}
	return l.judge(l.rules.AppendMatching(nil, c.Principal, c.Target), c)
}

func (l *Limits) judge(about []int, c Call) *Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judgeLocked(about, c, time.Now())
}

// count charges every rate, here and in the store, if all of them allow it. The store is asked only about what would be
// allowed here.
func (l *Limits) count(ctx context.Context, about []int, c Call, least *State) *Refusal {
	if l.store == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.countLocked(about, c, time.Now(), least)
	}
	if refusal := l.judge(about, c); refusal != nil {
		return refusal
	}
	taken, refusal := l.takeShared(ctx, about, c, least)
	if refusal != nil {
		return refusal
	}
	l.mu.Lock()
	refusal = l.countLocked(about, c, time.Now(), least)
	l.mu.Unlock()
	if refusal != nil {
		l.giveBack(ctx, taken)
	}
	return refusal
}

// isHere reports whether a limit is counted in this process.
func (l *Limits) isHere(lim *limit) bool { return !lim.Shared || l.store == nil }

// countLocked charges every rate, if all of them allow it.
func (l *Limits) countLocked(about []int, c Call, now time.Time, least *State) *Refusal {
	if refusal := l.judgeLocked(about, c, now); refusal != nil {
		return refusal
	}
	for _, i := range about {
		if lim := l.limits[i]; lim.step > 0 && l.isHere(lim) {
			b := lim.bucket(c, now)
			b.tat = b.arrival(now).Add(lim.step)
			least.keepLeast(lim.state(b, now))
		}
	}
	return nil
}

func (l *Limits) judgeLocked(about []int, c Call, now time.Time) *Refusal {
	for _, i := range about {
		lim := l.limits[i]
		if !l.isHere(lim) || lim.step == 0 && lim.TokensPerDay == 0 && lim.USDPerDay == 0 {
			continue
		}
		b := lim.bucket(c, now)
		if wait, reason := lim.over(b, now); wait > 0 {
			return &Refusal{Limit: lim.Name, Reason: reason, RetryAfter: wait, State: lim.state(b, now)}
		}
	}
	return nil
}

func (s *State) keepLeast(other State) {
	if !other.IsZero() && (s.IsZero() || other.Remaining < s.Remaining) {
		*s = other
	}
}

// Spend adds to the day's sums of a model call. An error is the store's: what was spent is in no sum.
func (l *Limits) Spend(c Call, tokens int64, usd float64) (err error) {
	if l == nil {
		return nil
	}
	for _, i := range l.rules.AppendMatching(nil, c.Principal, c.Target) {
		switch lim := l.limits[i]; {
		case lim.TokensPerDay == 0 && lim.USDPerDay == 0:
		case l.isHere(lim):
			l.mu.Lock()
			now := time.Now()
			lim.bucket(c, now).spend(now, tokens, usd)
			l.mu.Unlock()
		default:
			err = errors.Join(err, l.spendShared(lim, c, tokens, usd))
		}
	}
	return err
}

// Release ends the call.
func (g Grant) Release() {
	for _, held := range g.held {
		g.limits.leave(held)
	}
}

// leave gives a slot back: to the store first, so that whoever calls next finds it there.
func (l *Limits) leave(held slot) {
	if held.leave != nil {
		held.leave()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if held.shared {
		held.bucket.running--
		held.bucket.callNext()
		return
	}
	held.bucket.leave()
}

func (c Call) tool() string {
	if c.Target.Kind == access.KindTool {
		return c.Target.Name
	}
	return ""
}

// model is what a model resolves to, so that an alias has no bucket of its own.
func (c Call) model() string {
	switch {
	case c.Target.Kind != access.KindModel:
		return ""
	case c.Target.Also != "":
		return c.Target.Also
	default:
		return c.Target.Name
	}
}
