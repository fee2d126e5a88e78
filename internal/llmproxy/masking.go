package llmproxy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"secateur/internal/bill"
	"secateur/internal/chat"
	"secateur/internal/originals"
	"secateur/internal/rawjson"
)

// rewritten is what was made of a request.
type rewritten struct {
	conv   *chat.Conversation
	plan   *chat.Plan   // nil: it goes out as it came
	flight *flight      // nil where plan is
	before bill.Account // of the conversation, without this request
	pruned int          // results that go out pruned
}

// rewrite gives the body that goes out, which is the caller's to release: the client's own bytes wherever nothing is to be
// changed, or anything goes wrong.
func (x *exchange) rewrite(ctx context.Context, conv *chat.Conversation, body *buffer) *buffer {
	if conv != nil && len(conv.Messages) > 0 && (x.p.opt.Masking.Enabled || x.p.opt.Pruning.Enabled) {
		out, err := x.mask(ctx, conv, body)
		if err == nil {
			return out
		}
		x.p.trouble(ctx, "masking failed, the request goes out as it came", err)
		x.rewritten, x.effect = rewritten{}, untouched
	}
	if conv == nil || x.to.model == "" || x.to.model == conv.Model {
		body.hold()
		return body
	}
	out := grab(len(body.bytes) + len(x.to.model))
	out.bytes = appendRenamed(out.bytes, body.bytes, x.to.model)
	return out
}

// mask plans how the conversation goes out, keeps what is taken out of it, and writes the body.
func (x *exchange) mask(ctx context.Context, conv *chat.Conversation, body *buffer) (out *buffer, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	in := chat.Input{
		Conversation: conv, Masking: x.p.opt.Masking, Prices: x.to.prices, Now: x.p.opt.Now().Unix(),
		Record: x.recall(ctx, conv),
		ID:     func(text string) string { return originals.ID(x.tenant, text) },
	}
	var before bill.Account
	if in.Record != nil {
		before = in.Record.Account
	}
	in.Pruned = x.prune(ctx, conv, in.Record)
	plan := chat.Decide(in)
	plan.Model = x.to.model
	if err := x.keep(ctx, plan); err != nil {
		return nil, err
	}
	out = body
	if len(plan.Cuts) > 0 || x.to.model != "" && x.to.model != conv.Model {
		out = grab(plan.Size())
		out.bytes = plan.Append(out.bytes)
	} else {
		body.hold()
	}
	sent := plan.Record(nil)
	x.effect = effect{masked: plan.Masked(), saved: plan.TokensSaved(), ratio: sent.Account.Ratio(), ids: unnamed(plan.Cuts)}
	x.rewritten = rewritten{conv: conv, plan: plan, before: before, pruned: len(plan.Cuts) - x.effect.masked}
	x.flight = x.p.flights.start(x.recordKey(conv.Key()), &sent) // the last that can go wrong
	return out, nil
}

// unnamed lists the ids that the texts left behind do not tell, the newest first.
func unnamed(cuts []chat.Cut) (ids []string) {
	seen := make(map[string]bool, min(len(cuts), maxListed))
	for _, cut := range slices.Backward(cuts) {
		if len(ids) == maxListed {
			break
		}
		if !cut.Told && !seen[cut.ID] {
			seen[cut.ID] = true
			ids = append(ids, cut.ID)
		}
	}
	return ids
}

// trouble counts what went wrong with a conversation, of which nothing is logged.
func (p *Proxy) trouble(ctx context.Context, what string, err error) {
	p.metrics.troubles.Inc()
	p.opt.Log.ErrorContext(ctx, "conversation not rewritten", "what", what, "err", err)
}

// maxPlaces bounds how far back a record is looked for.
const maxPlaces = 1024

// recall finds what was sent before of this conversation: the record of its longest known beginning.
func (x *exchange) recall(ctx context.Context, conv *chat.Conversation) *chat.Record {
	p := x.p
	for i, place := range conv.Places() {
		if i == maxPlaces {
			break
		}
		key := x.recordKey(place.Key)
		if i > 0 { // one that is as long is no answer to ours, but the same request at the same time
			if r := p.flights.find(ctx, key); r != nil {
				return r
			}
		}
		b, ok := p.opt.Records.Get(ctx, key)
		if !ok {
			continue
		}
		var r chat.Record
		if err := r.UnmarshalBinary(b); err == nil && r.Messages == place.Messages {
			return &r
		}
	}
	return nil
}

func (x *exchange) recordKey(k chat.Key) string { return "record/" + x.tenant + "/" + k.String() }
func (x *exchange) frozenKey(k chat.Key) string { return "frozen/" + x.tenant + "/" + k.String() }

// maxPruneChars bounds what is pruned at all. What is longer passes whole, and stays so.
const maxPruneChars = 2_000_000

// prune gives the results that go out pruned, each in the form in which it first did. Where that is lost it is made
// anew: the same text for the same goal comes out the same.
func (x *exchange) prune(ctx context.Context, conv *chat.Conversation, r *chat.Record) map[int]string {
	var pruned map[int]string
	began := time.Now()
	expired := func() bool { return ctx.Err() != nil || time.Since(began) > x.p.opt.PruneTime }
	for _, job := range conv.Jobs(x.p.opt.Pruning, r) {
		key := x.frozenKey(job.Key)
		text := ""
		if b, ok := x.p.opt.Records.Get(ctx, key); ok {
			text = string(b)
		} else if !expired() && conv.Messages[job.Message].Chars <= maxPruneChars {
			original := conv.Text(job.Message)
			id := originals.ID(x.tenant, original)
			if text, ok = conv.Prune(x.p.opt.Pruning, job, id, expired); !ok {
				continue
			}
			if err := x.p.opt.Records.Put(ctx, key, []byte(text)); err != nil {
				x.p.opt.Log.DebugContext(ctx, "pruned text not kept", "err", err)
			}
		}
		if text == "" {
			continue
		}
		if pruned == nil {
			pruned = map[int]string{}
		}
		pruned[job.Message] = text
	}
	return pruned
}

// maxUnkept is how many results may have to go out whole before all of them do.
const maxUnkept = 256

var errStore = errors.New("too many originals could not be kept")

// keep stores the originals of all cuts and takes back the cuts whose original is not safe. A store that does not
// answer is not asked again for this request.
func (x *exchange) keep(ctx context.Context, plan *chat.Plan) error {
	var unkept []int
	var down error
	for _, cut := range x.p.renewed.due(plan.Cuts, x.p.opt.OriginalsTTL) {
		err := down
		if err == nil {
			var id string
			if id, err = x.p.opt.Originals.Put(ctx, x.tenant, plan.Original(cut)); err == nil && id != cut.ID {
				err = fmt.Errorf("%w: it calls an original %s", originals.ErrUnavailable, id)
			}
		}
		switch {
		case err == nil:
			x.p.renewed.note(cut.ID)
			continue
		case errors.Is(err, originals.ErrUnavailable):
			down = err
		}
		unkept = append(unkept, cut.Message)
		if len(unkept) == 1 {
			x.p.opt.Log.DebugContext(ctx, "original not kept, tool result goes out whole", "id", cut.ID, "err", err)
		}
	}
	x.p.metrics.unkept.WithLabelValues(x.to.provider.name).Add(float64(len(unkept)))
	if len(unkept) > maxUnkept {
		return errStore
	}
	for _, message := range unkept {
		plan.Keep(message) // content fails open: what cannot be kept is not cut
	}
	return nil
}

// appendRenamed appends a body, which has been checked, with another value for its model.
func appendRenamed(dst, body []byte, model string) []byte {
	for name, at := range rawjson.Members(body) {
		if string(name) == "model" && rawjson.IsString(at.Of(body)) {
			return rawjson.Apply(dst, body, []rawjson.Edit{{Span: at, New: rawjson.AppendQuoted(nil, model)}})
		}
	}
	return append(dst, body...)
}
