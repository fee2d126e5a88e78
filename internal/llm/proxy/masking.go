package proxy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// rewritten is the result of rewriting a request.
type rewritten struct {
	plan   *chat.Plan // nil: sent unchanged
	lane   lane
	past   chat.Past
	flight *flight // nil if plan is
	pruned int     // results that are sent pruned
}

// rewrite returns the body to send, which the caller must release. It is the client's own bytes if
// nothing changes or anything goes wrong.
func (x *exchange) rewrite(ctx context.Context, conv *chat.Conversation, body *buffer) *buffer {
	if conv != nil && len(conv.Messages) > 0 && x.p.cuts() {
		out, err := x.mask(ctx, conv, body)
		if err == nil {
			return out
		}
		x.rewritten, x.effect = rewritten{}, untouched
		if errors.Is(err, errHeldOut) {
			x.effect.barrier = chat.HeldOut
		} else {
			x.notMasked(ctx, err)
		}
	}
	if conv == nil || x.to.model == "" || x.to.model == conv.Model {
		body.hold()
		return body
	}
	out := grab(len(body.bytes) + len(x.to.model))
	out.bytes = appendRenamed(out.bytes, body.bytes, x.to.model)
	return out
}

// notMasked reports why a request goes out as it came.
func (x *exchange) notMasked(ctx context.Context, err error) {
	x.p.sentUnwritten(ctx, x.p.opt.Now().Unix())
	if errors.Is(err, errUnknownPast) { // the store's owner reports it once
		x.p.metrics.troubles.Inc()
		x.p.opt.Log.DebugContext(ctx, "the request goes out as it came", "err", err)
		return
	}
	x.p.trouble(ctx, "masking failed, the request goes out as it came", err)
}

// mask plans how to send the conversation, stores what it removes, and writes the body.
func (x *exchange) mask(ctx context.Context, conv *chat.Conversation, body *buffer) (out *buffer, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	now := x.p.opt.Now().Unix()
	lane := x.laneOf(conv)
	past, err := lane.pastOf(ctx, conv, x.frozenKeys)
	x.forgotten = isForgotten(conv, &past)
	if err != nil && !x.byMessagesAlone() {
		return nil, err
	}
	if x.arm = x.p.armOf(conv, &past); x.arm == ArmHeld {
		return nil, errHeldOut
	}
	by := conv.RecoveryBy(x.p.opt.RecoverCommand)
	past.Engine = by.Engine(x.p.opt.Pruning)
	pruned, freezing, err := x.prune(ctx, lane, conv, past, by)
	if err != nil {
		return nil, err
	}
	lane.asked = nil // from here on, concurrent writes of others count
	plan := chat.Decide(chat.Input{
		Past: past, Conversation: conv, Model: x.modelOf(conv), Replay: x.replay, Masking: x.p.masking(), Prices: x.to.prices, Now: now,
		Pruned: pruned,
		Spread: spread,
		ID:     func(text string) string { return x.p.opt.Originals.ID(x.tenant, text) },
	})
	plan.Model = x.to.model
	x.rewritten = rewritten{plan: plan, lane: lane, past: past}
	if err := x.keep(ctx, freezing, now); err != nil {
		return nil, err
	}
	plan.Forget()
	if x.replay {
		x.rewritten = rewritten{}
	}
	out = body
	if len(plan.Cuts) > 0 || x.to.model != "" && x.to.model != conv.Model {
		out = grab(plan.Size())
		out.bytes = plan.Append(out.bytes)
	} else {
		body.hold()
	}
	x.effect = effect{masked: plan.Masked(), saved: plan.TokensSaved(), ids: unnamed(plan.Cuts), barrier: plan.Barrier, ratio: 1, imitated: x.imitations(ctx, conv)}
	if x.replay {
		sent := plan.Unbooked()
		x.effect.rate(&sent)
	}
	x.pruned = len(plan.Cuts) - x.effect.masked
	if !x.replay {
		x.flight = x.p.flights.start(lane.record, plan) // the last step that can fail
	}
	return out, nil
}

// imitations counts the calls that hold a marker of ours. The tool was called with the marker in
// place of the text, so each is reported when it first comes back.
func (x *exchange) imitations(ctx context.Context, conv *chat.Conversation) int {
	if x.p.opt.Pruning.Arguments != chat.ArgumentsOn {
		return 0
	}
	n := conv.Imitations()
	if n > 0 && conv.ImitatesNow() && !x.replay {
		x.p.opt.Log.WarnContext(ctx, "the model has written a marker of a cut into a call: no more arguments are cut in this conversation",
			"provider", x.to.provider.name, "calls", n, "hint", `look at what the call did, or set arguments = "off" in [context_pruning]`)
	}
	return n
}

// modelOf returns the provider's name of the model.
func (x *exchange) modelOf(conv *chat.Conversation) string {
	if x.to.model != "" {
		return x.to.model
	}
	return conv.Model
}

// masking returns the settings without what needs a durable store, if we have none.
func (p *Proxy) masking() chat.Settings {
	s := p.opt.Masking
	if p.opt.Forgetful && s.Strategy == chat.Priced {
		s.Enabled = false
	}
	return s
}

// unnamed lists the ids that the remaining texts do not name, newest first.
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

// trouble counts and logs a failure, without any text of the conversation.
func (p *Proxy) trouble(ctx context.Context, what string, err error) {
	p.metrics.troubles.Inc()
	p.opt.Log.ErrorContext(ctx, "conversation not rewritten", "what", what, "err", err)
}

// maxUnkept is how many results may have to be sent whole before all of them are.
const maxUnkept = 256

var errStore = errors.New("too many originals could not be kept")

// keep stores the originals of all cuts, undoes the cuts whose original is not stored, and records
// what is sent.
func (x *exchange) keep(ctx context.Context, freezing map[int][]string, now int64) error {
	due := x.p.renewed.due(x.plan.Cuts, x.p.opt.OriginalsTTL)
	if x.canGoTogether(due) {
		x.keepTogether(ctx, due, freezing, now)
		return nil
	}
	if x.plan.Claim > 0 && !x.lane.claim(ctx, x.plan.Claim, x.past.Claims) {
		x.plan.Unclaimed()
		due = x.p.renewed.due(x.plan.Cuts, x.p.opt.OriginalsTTL)
	}
	unkept := x.unkept(ctx, due, x.put(ctx, x.plan, due))
	if len(unkept) > maxUnkept {
		return errStore
	}
	for _, message := range unkept {
		x.plan.Keep(message) // fail open: do not cut what cannot be stored
	}
	x.remember(ctx, freezing, now)
	return nil
}

// unkept lists the messages that must not be sent cut because their originals were not stored.
func (x *exchange) unkept(ctx context.Context, cuts []chat.Cut, errs []error) (messages []int) {
	for i, err := range errs {
		switch cut := cuts[i]; {
		case err == nil:
			x.p.renewed.note(cut.ID)
		// It was sent like this before and must stay: later messages depend on it.
		case !cut.New && !cut.Unsure:
		default:
			messages = append(messages, cut.Message)
			if len(messages) == 1 {
				x.p.opt.Log.DebugContext(ctx, "original not kept, tool result goes out whole", "id", cut.ID, "err", err)
			}
		}
	}
	x.p.metrics.unkept.WithLabelValues(x.to.provider.name).Add(float64(len(messages)))
	return messages
}

// putsAtOnce is how many originals of a request are stored concurrently.
const putsAtOnce = 8

// put stores the originals of cuts and returns an error for each. After one timeout the store is
// not asked again for this request.
func (x *exchange) put(ctx context.Context, plan *chat.Plan, cuts []chat.Cut) []error {
	errs := make([]error, len(cuts))
	var isDown atomic.Bool
	one := func(i int) {
		if isDown.Load() {
			errs[i] = originals.ErrUnavailable
			return
		}
		id, err := x.p.opt.Originals.Put(ctx, x.tenant, plan.Original(cuts[i]))
		if err == nil {
			err = isOf(cuts[i], id)
		}
		if errs[i] = err; errors.Is(err, originals.ErrUnavailable) {
			isDown.Store(true)
		}
	}
	if len(cuts) > 0 {
		one(0) // alone: it shows whether the store answers
		spreadOver(min(putsAtOnce, len(cuts)-1), len(cuts)-1, func(i int) { one(i + 1) })
	}
	return errs
}

// isOf checks that a store has used the id that the cut names.
func isOf(cut chat.Cut, id string) error {
	if id != cut.ID {
		return fmt.Errorf("%w: it calls an original %s", originals.ErrUnavailable, id)
	}
	return nil
}

// appendRenamed appends a validated body with another value for its model.
func appendRenamed(dst, body []byte, model string) []byte {
	for name, at := range rawjson.Members(body) {
		if string(name) == "model" && rawjson.IsString(at.Of(body)) {
			return rawjson.Apply(dst, body, []rawjson.Edit{{Span: at, New: rawjson.AppendQuoted(nil, model)}})
		}
	}
	return append(dst, body...)
}
