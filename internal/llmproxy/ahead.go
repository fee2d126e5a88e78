package llmproxy

import (
	"context"
	"fmt"
	"sync"

	"secateur/internal/chat"
)

// ahead is what is written down of a request, and told of it, before it is answered.
type ahead struct {
	expected *chat.Record // what it sends and is likely to cost; nil: not known yet, or nobody wants to know
	written  bool         // so it was
	beside   sync.WaitGroup
}

// expect writes down what a request is likely to cost: if we die before the answer, it most likely has.
func (x *exchange) expect(ctx context.Context) error {
	r := x.plan.Record(nil)
	x.ahead.expected = &r
	err := x.lane.keep(ctx, &r)
	x.ahead.written = err == nil
	return err
}

// reckon makes up, while a request is being sent, what was not needed before. Of one that goes out whole, and always did, it writes
// down what that may cost; the channel is closed when it has, and until then the end of the request is held back. Of any
// other it only makes up what it comes to, which the answer's header tells. Who reads x.ahead waits for it.
func (x *exchange) reckon(ctx context.Context) (ready <-chan struct{}) {
	isWhole := x.plan.Untouched()
	if x.ahead.expected != nil || isWhole && (x.byMessagesAlone() || !x.plan.HasResults()) {
		return nil // with nothing that could go out in another form, what it costs it costs either way
	}
	written := make(chan struct{})
	if isWhole {
		ready = written
	}
	x.ahead.beside.Go(func() {
		defer close(written)
		defer func() {
			if v := recover(); v != nil {
				x.p.trouble(ctx, "keeping the account panicked", fmt.Errorf("%v", v))
			}
		}()
		if !isWhole {
			r := x.plan.Record(nil)
			x.ahead.expected = &r
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := x.expect(ctx); err != nil {
			x.p.notRemembered(ctx, "its record", err)
		}
	})
	return ready
}

// expectedRatio is what the conversation's bill is likely to come to.
func (x *exchange) expectedRatio() float64 {
	if x.plan == nil || x.plan.Untouched() {
		return x.effect.ratio
	}
	x.ahead.beside.Wait()
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
// it went out is kept. Of one that its client has given up nobody knows.
func (x *exchange) land(ctx context.Context) {
	x.ahead.beside.Wait()
	if x.booked == nil && x.ahead.written && ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		r := x.plan.Unbooked()
		if err := x.lane.keep(ctx, &r); err != nil {
			x.p.notRemembered(ctx, "its record", err)
		}
	}
	x.p.flights.land(x.flight, x.booked)
}
