package proxy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"secateur/internal/llm/chat"
)

// ahead is what is written down of a request, and told of it, before it is answered.
type ahead struct {
	expected *chat.Record // what it sends and is likely to cost; nil: not known yet, or nobody wants to know
	written  bool         // it is written down in which form it went out

	beside sync.WaitGroup // what is made up while the request is under way
	later  *time.Timer    // begins with it; nil: it has begun, or there is nothing
}

// wait returns when nothing is made up any more. What has not begun never does.
func (a *ahead) wait() {
	if a.later != nil && a.later.Stop() {
		a.beside.Done()
	}
	a.beside.Wait()
}

// expect writes down what a request is likely to cost: if we die before the answer, it most likely has.
func (x *exchange) expect(ctx context.Context) error {
	r := x.plan.Record(nil)
	x.ahead.expected = &r
	err := x.lane.keep(ctx, &r, x.touchLate(r.Time)...)
	x.ahead.written = x.ahead.written || err == nil
	return err
}

// lull is how long a provider lets us wait at least that has more to do than to answer.
const lull = 5 * time.Millisecond

// reckon makes up, while a request is under way, what was not needed to send it. What a request costs that goes out whole, as it always did, and takes a
// while to measure, is written down when the provider lets us wait for its answer: one that comes sooner brings the provider's own counts. What any
// other comes to is told by the answer's header. Who reads x.ahead waits for it.
func (x *exchange) reckon(ctx context.Context) {
	switch {
	case x.ahead.expected != nil:
	case !x.plan.Untouched():
		x.ahead.beside.Go(func() {
			defer x.survive(ctx)
			r := x.plan.Record(nil)
			x.ahead.expected = &r
		})
	case !x.byMessagesAlone():
		x.ahead.beside.Add(1)
		x.ahead.later = time.AfterFunc(lull, func() {
			defer x.ahead.beside.Done()
			defer x.survive(ctx)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
			defer cancel()
			if err := x.expect(ctx); err != nil {
				x.p.notRemembered(ctx, "its record", err)
			}
		})
	}
}

// survive, deferred, has a request go on whose account cannot be kept.
func (x *exchange) survive(ctx context.Context) {
	if v := recover(); v != nil {
		x.p.trouble(ctx, "keeping the account panicked", fmt.Errorf("%v", v))
	}
}

// expectedRatio is what the conversation's bill is likely to come to.
func (x *exchange) expectedRatio() float64 {
	if x.plan == nil || x.plan.Untouched() {
		return x.effect.ratio
	}
	x.ahead.wait()
	if x.ahead.expected == nil {
		return x.effect.ratio
	}
	return x.ahead.expected.Bill.Ratio()
}

// byMessagesAlone tells whether what goes out hangs on the messages and on nothing that was sent before.
func (x *exchange) byMessagesAlone() bool {
	return x.at.format == chat.Completions && x.p.opt.Masking.Strategy != chat.Priced && !x.p.opt.Pruning.Enabled
}

// land ends the flight of a request. One that was refused, or reached nobody, has cost nothing: only the form in which
// it went out is kept. Of one that its client has given up before the provider refused it nobody knows.
func (x *exchange) land(ctx context.Context, givenUp bool) {
	x.ahead.wait()
	if x.booked == nil && x.ahead.written && (x.refused || !givenUp) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		r := x.plan.Unbooked()
		if err := x.lane.keep(ctx, &r); err != nil {
			x.p.notRemembered(ctx, "its record", err)
		}
	}
	x.p.flights.land(x.flight, x.booked)
}
