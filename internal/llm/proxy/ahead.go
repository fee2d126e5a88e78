package proxy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"secateur/internal/llm/chat"
)

// ahead is what we record and report about a request before its response.
type ahead struct {
	expected *chat.Record // what it sends and will likely cost; nil: not known yet, or not needed
	written  bool         // the form in which it was sent is recorded

	beside sync.WaitGroup // work done while the request is in flight
	later  *time.Timer    // starts that work; nil: started, or none
}

// wait returns when the work in progress is done. Work that has not started is cancelled.
func (a *ahead) wait() {
	if a.later != nil && a.later.Stop() {
		a.beside.Done()
	}
	a.beside.Wait()
}

// expect records the likely cost of a request: if we crash before the response, it most likely
// applies.
func (x *exchange) expect(ctx context.Context) error {
	r := x.plan.Record(nil)
	x.ahead.expected = &r
	err := x.lane.keep(ctx, &r, x.touchLate(r.Time)...)
	x.ahead.written = x.ahead.written || err == nil
	return err
}

// lull is the shortest provider latency that leaves time for bookkeeping before the response
// arrives.
const lull = 5 * time.Millisecond

// reckon computes, while a request is in flight, what was not needed to send it. An unchanged
// request that takes long to measure is recorded once the provider takes longer than lull. A faster
// response brings the provider's own counts. For any other request, the response header reports the
// estimate. Readers of x.ahead must wait for it.
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

// survive, deferred, lets a request continue if its bookkeeping panics.
func (x *exchange) survive(ctx context.Context) {
	if v := recover(); v != nil {
		x.p.trouble(ctx, "keeping the account panicked", fmt.Errorf("%v", v))
	}
}

// expectRatio sets the likely ratio of the conversation's bill.
func (x *exchange) expectRatio() {
	if x.plan == nil || x.plan.Untouched() {
		return
	}
	x.ahead.wait()
	if x.ahead.expected != nil {
		x.effect.rate(x.ahead.expected)
	}
}

// byMessagesAlone reports whether the sent request depends only on the messages, not on earlier
// requests.
func (x *exchange) byMessagesAlone() bool {
	return x.at.format == chat.Completions && x.p.opt.Masking.Strategy != chat.Priced && !x.p.opt.Pruning.Enabled
}

// land ends the flight of a request. One that was refused or never reached the provider has cost
// nothing: only its sent form is recorded. If the client gave up before the provider refused, the
// cost is unknown.
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
