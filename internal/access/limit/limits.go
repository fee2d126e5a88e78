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

// Limits are the limits of all doors. Every limit that matches a call counts. If one refuses it, no
// rate is charged. The nil *Limits allows everything. It is safe for concurrent use.
type Limits struct {
	rules  *access.Rules // match limits to calls
	limits []*limit
	store  Store         // counts for shared limits; nil: none
	wait   time.Duration // timeout of the store

	mu *sync.Mutex // guards the buckets of all limits, and of their predecessors
}

// Options configure Limits.
type Options struct {
	PerMinute int // rate_limit_per_minute, per principal; 0: none
	Settings  []Settings
	Store     Store         // for shared limits; nil: they count only here
	StoreWait time.Duration // timeout of the store, after which it counts as unreachable; 0: 250 ms

	// Replaces are the predecessors on reload; nil: none. A limit with the same name and the same
	// by continues with the old buckets. It keeps its counts, and running calls keep their slots.
	Replaces *Limits
}

// ShorthandName is the name of the limit that rate_limit_per_minute sets.
const ShorthandName = "rate_limit_per_minute"

// New returns Limits for valid settings. Without any it returns nil, which allows everything.
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

// Call is the call to be limited.
type Call struct {
	Principal *access.Principal
	Target    access.Target

	Unlisted bool // its server lists no such tool to the caller; all such calls share a bucket
	View     bool // only reads the control plane; only limits that name that door apply
}

// Refusal says which limit a call exceeds, and when to retry.
type Refusal struct {
	Limit      string
	Reason     Reason
	RetryAfter time.Duration
	State      State
}

// Reason is the kind of a limit.
type Reason string

// The reasons.
const (
	ReasonRate        Reason = "rate"
	ReasonConcurrency Reason = "concurrency"
	ReasonBudget      Reason = "budget"
)

// State is the state of a bucket, for headers. The zero value means that no rate applies.
type State struct {
	Limit     int           // maximum burst
	Remaining int           // calls allowed now
	Reset     time.Duration // time until it is full again
}

// IsZero reports whether no rate applies.
func (s State) IsZero() bool { return s.Limit == 0 }

// Grant is an allowed call. Its holder calls Release after it.
type Grant struct {
	State State

	limits *Limits
	held   []slot
}

// slot is a slot of a bucket that a call holds.
type slot struct {
	bucket *bucket
	shared bool   // the limit is shared
	leave  func() // releases it in the store; nil: local slot
}

// Take counts a call, and waits for a slot if concurrent calls are limited. A nil Refusal means
// that it may proceed.
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
	// Slots are taken in the order of the limits, which prevents deadlocks.
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

// usualLimits is the number of limits per call that needs no allocation.
const usualLimits = 8

// Check is Take without counting and waiting. It does not ask the store.
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

// count charges every rate, here and in the store, if all of them allow it. It asks the store only
// if the local limits allow the call.
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

// Spend adds the cost of a model call to the day's sums. An error comes from the store; the cost is
// then lost.
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

// leave releases a slot, in the store first, so that the next call finds it there.
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

// model returns the resolved model, so that an alias has no separate bucket.
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
