package llmproxy

import (
	"context"
	"net/http"
	"time"

	"secateur/internal/bill"
)

// settleTime bounds what is done for the next request of a conversation when this one's client has gone.
const settleTime = 5 * time.Second

// meter reads along where the provider's counts are of use, or the end of an answer shows in it alone.
func (x *exchange) meter(res *http.Response) *meter {
	if res.StatusCode/100 == 2 && (x.plan != nil || x.p.opt.Admission.HasBudgets() || !isFramed(res)) {
		return newMeter(res)
	}
	return nil
}

// settle writes down what was sent and what it cost.
func (x *exchange) settle(ctx context.Context, status int, ended outcome, m *meter) {
	to := x.to.provider
	x.p.metrics.request(to, ended)
	x.p.metrics.took(to, x.began)
	x.p.metrics.effect(to, x.effect, x.pruned)
	log := x.p.opt.Log.DebugContext
	if x.effect.masked+x.pruned > 0 {
		log = x.p.opt.Log.InfoContext
	}
	log(ctx, "chat request passed", "provider", to.name, "status", status, "outcome", string(ended),
		"masked", x.effect.masked, "pruned", x.pruned, "tokens_saved", x.effect.saved, "bill_ratio", x.effect.ratio,
		"took_ms", time.Since(x.began).Milliseconds())
	if m != nil {
		defer m.close()
	}
	if status/100 != 2 {
		return // what was refused cost nothing, and may not have reached the cache
	}
	var usage *bill.Usage
	if m != nil {
		usage = m.result()
	}
	x.spend(usage)
	if x.plan == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	x.book(ctx, usage)
}

// book keeps the record of this request, under which the next one finds it.
func (x *exchange) book(ctx context.Context, usage *bill.Usage) {
	defer func() {
		if v := recover(); v != nil {
			x.p.metrics.troubles.Inc()
			x.p.opt.Log.ErrorContext(ctx, "keeping the account panicked", "panic", v)
		}
	}()
	r := x.plan.Record(usage)
	perToken := x.to.prices.Input / 1e6
	x.p.metrics.bill(x.to.provider, (r.Account.Spent-x.before.Spent)*perToken, (r.Account.Through-x.before.Through)*perToken)
	x.booked = &r
	b, err := r.AppendBinary(nil)
	if err == nil {
		err = x.p.opt.Records.Put(ctx, x.recordKey(x.conv.Key()), b)
	}
	if err != nil {
		x.p.opt.Log.WarnContext(ctx, "record of a conversation not kept", "err", err)
	}
}
