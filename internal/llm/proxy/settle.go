package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// settleTime limits the bookkeeping for a request whose client has gone.
const settleTime = 5 * time.Second

// meter returns a meter if the provider's counts are needed, or if only the content shows the end
// of the response.
func (x *exchange) meter(res *http.Response) *meter {
	if res.StatusCode/100 == 2 && (x.plan != nil || x.counts || x.p.opt.Observer != nil || !isFramed(res)) {
		return newMeter(res)
	}
	return nil
}

// maxAhead is how much of a response is read before its headers are sent.
const maxAhead = 64 << 10

// readAhead reads a short JSON response, so that its headers can report the actual cost. Such a
// response comes in one piece anyway.
func (x *exchange) readAhead(res *http.Response) {
	if x.plan == nil || len(x.plan.Cuts) == 0 || res.StatusCode/100 != 2 || !isType(res.Header, "application/json") || isEncoded(res.Header) ||
		res.ContentLength > maxAhead {
		return
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxAhead))
	body := res.Body
	res.Body = &resumed{Reader: io.MultiReader(bytes.NewReader(head), &failed{err, body}), Closer: body}
	if usage, ok := bill.ParseUsage(head); ok && err == nil && len(head) < maxAhead {
		x.blame(&usage)
		x.told(&usage)
	}
}

// resumed is a body whose beginning was already read.
type resumed struct {
	io.Reader
	io.Closer
}

// failed continues reading, or returns an earlier read error.
type failed struct {
	err  error
	from io.Reader
}

func (f *failed) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.from.Read(p)
}

// told sets the actual ratio of the conversation's bill.
func (x *exchange) told(usage *bill.Usage) {
	r := x.plan.Record(usage)
	x.counted = &counted{*usage, r}
	x.effect.rate(&r)
}

// counted is the record of a request for a reported usage.
type counted struct {
	usage  bill.Usage
	record chat.Record
}

// record returns the record to write for the request.
func (x *exchange) record(usage *bill.Usage) chat.Record {
	if x.counted != nil && usage != nil && *usage == x.counted.usage {
		return x.counted.record
	}
	return x.plan.Record(usage)
}

// settle records what was sent and what it cost, and reports it. A stream's headers are sent before
// the provider's counts, so the log and the metrics wait for those. A response without a length
// ends when the handler returns, so its bookkeeping runs in the background.
func (x *exchange) settle(ctx context.Context, res *http.Response, ended outcome, m *meter) {
	took := time.Since(x.began)
	x.p.ended(ctx, x.to.provider, ended)
	x.p.metrics.took(x.to.provider, x.began)
	var usage *bill.Usage
	if m != nil {
		usage = m.result()
		m.close()
	}
	x.blame(usage)
	x.tellMiss(ctx, usage)
	x.noteAnswer(usage)
	isPaid := !x.refused // a refused request cost nothing; only its form is recorded
	if isPaid {
		x.spend(usage, ended) //nolint:contextcheck // spending is recorded even if the caller has gone
	}
	givenUp := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	keep := func() {
		if isPaid {
			x.account(ctx, usage)
		}
		x.tell(ctx, res.StatusCode, ended, took)
	}
	if x.plan == nil || res.ContentLength >= 0 || ended.broken() {
		keep()
		return
	}
	x.body.hold()
	x.later = x.p.books.keep(func() {
		defer x.body.release()
		defer x.land(ctx, givenUp)
		defer x.survive(ctx)
		keep()
	})
	if !x.later {
		x.body.release()
		keep()
	}
}

// tell counts and logs the outcome of a request.
func (x *exchange) tell(ctx context.Context, status int, ended outcome, took time.Duration) {
	to := x.to.provider
	x.p.metrics.effect(to, x.effect, x.pruned)
	log := x.p.opt.Log.DebugContext
	if x.effect.masked+x.pruned > 0 || x.effect.barrier != chat.Open {
		log = x.p.opt.Log.InfoContext
	}
	log(ctx, "chat request passed", "provider", to.name, "format", x.at.format.String(), "status", status, "outcome", string(ended),
		"masked", x.effect.masked, "pruned", x.pruned, "tokens_saved", x.effect.saved, "bill_ratio", x.effect.ratio, "bill_ratio_range", x.effect.between(), "unmasked", string(x.effect.barrier),
		"took_ms", took.Milliseconds())
}

// account adds the cost of a response.
func (x *exchange) account(ctx context.Context, usage *bill.Usage) {
	if x.plan == nil {
		x.observe(ctx, usage, x.cost(usage), x.cost(usage))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	x.book(ctx, usage)
}

// book writes the record of this request, where the next one finds it.
func (x *exchange) book(ctx context.Context, usage *bill.Usage) {
	defer func() {
		if v := recover(); v != nil {
			x.p.metrics.troubles.Inc()
			x.p.opt.Log.ErrorContext(ctx, "keeping the account panicked", "panic", v)
		}
	}()
	x.ahead.wait() // this write is final
	before, r := x.plan.BilledBefore(), x.record(usage)
	spent, saved := r.Bill.Spent-before.Spent, r.Bill.Saved-before.Saved
	x.observe(ctx, usage, spent, spent+saved)
	x.booked = &r
	x.effect.rate(&r)
	err := x.lane.keep(ctx, &r, x.touchLate(r.Time)...)
	if err != nil {
		x.p.unwritten.keep(&r, x.lane.record, x.lane.last)
	}
	if usage != nil {
		x.compareCount(ctx, &r)
	}
	if err == nil && usage != nil {
		err = x.lane.learn(ctx, x.past.Learned, x.plan.Learned(*usage))
	}
	if err != nil {
		x.p.notRemembered(ctx, "its record", err)
	}
}
