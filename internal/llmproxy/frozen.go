package llmproxy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"secateur/internal/chat"
)

// keeper keeps what must not be lost before its time: when Keep returns it is safe. Records that are none are taken at
// their word.
type keeper interface {
	Keep(ctx context.Context, key string, value []byte) error
	Kept(ctx context.Context, key string) (value []byte, ok bool, err error)
}

func (p *Proxy) keepSafe(ctx context.Context, key string, value []byte) error {
	if k, ok := p.opt.Records.(keeper); ok {
		return k.Keep(ctx, key, value)
	}
	return p.opt.Records.Put(ctx, key, value)
}

func (p *Proxy) kept(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if k, ok := p.opt.Records.(keeper); ok {
		return k.Kept(ctx, key)
	}
	return p.opt.Records.Get(ctx, key)
}

// What is written down of conversations that begin alike.
const (
	someCut  = "cut" // results of theirs went out pruned
	leftOver = "off" // a provider has refused what was made of one: nothing more is cut
)

// cut tells what is known of conversations that begin alike.
func (l *lane) cut(ctx context.Context) (frozen, off bool) {
	b, ok, err := l.p.kept(ctx, l.cutKey())
	l.note(err)
	return ok, string(b) == leftOver
}

// leave writes down that nothing more is cut of conversations that begin alike.
func (l *lane) leave(ctx context.Context) error {
	return l.p.keepSafe(ctx, l.cutKey(), []byte(leftOver))
}

// maxPruneChars bounds what is pruned at all. What is longer passes whole, and stays so.
const maxPruneChars = 2_000_000

// prune gives the results that go out pruned, each in the form in which it first did, and of those that never did the
// keys under which they are to be frozen. Where the form is lost it is made anew, if the same comes out: what prunes
// is the same, and so are the text and the goal. The error says that nobody knows in which form a result was sent.
func (x *exchange) prune(ctx context.Context, conv *chat.Conversation, past chat.Past) (pruned map[int]string, freezing map[int][]string, err error) {
	settings := x.p.opt.Pruning
	if x.p.opt.Forgetful || x.replay {
		settings.Enabled = false
	}
	pruned, freezing = map[int]string{}, map[int][]string{}
	began := time.Now()
	expired := func() bool { return ctx.Err() != nil || time.Since(began) > x.p.opt.PruneTime }
	for _, job := range conv.Jobs(settings, past) {
		keys := []string{x.frozenKey(job.Key)}
		if job.ThreadKey != (chat.Key{}) {
			keys = append(keys, x.frozenKey(job.ThreadKey))
		}
		text, at, err := x.thaw(ctx, keys)
		switch {
		case err != nil && job.Fresh:
			continue // it was never sent: whole, it cannot be wrong
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", errUnknownPast, err)
		case at == 0:
		case at > 0: // in a thread; later requests know it by the conversation
			freezing[job.Message] = keys[:1]
		case job.Frozen, expired(), conv.Messages[job.Message].Chars > maxPruneChars:
			continue
		case !job.Fresh && !canRepeat(past):
			x.p.opt.Log.WarnContext(ctx, "the form in which a result was sent is lost, it goes out whole; a provider may refuse it", "provider", x.to.provider.name)
			continue
		default:
			id := x.p.opt.Originals.ID(x.tenant, conv.Text(job.Message))
			var ok bool
			if text, ok = conv.Prune(x.p.opt.Pruning, job, id, expired); !ok {
				continue
			}
			freezing[job.Message] = keys
		}
		pruned[job.Message] = text
	}
	return pruned, freezing, nil
}

// thaw gives the bytes that are frozen under one of the keys, and under which; -1: under none.
func (x *exchange) thaw(ctx context.Context, keys []string) (text string, at int, err error) {
	for i, key := range keys {
		switch b, ok, err := x.p.kept(ctx, key); {
		case err != nil:
			return "", -1, err
		case ok && len(b) > 0:
			return string(b), i, nil
		}
	}
	return "", -1, nil
}

// canRepeat tells whether pruning makes of a result what it made of it when it was sent.
func canRepeat(past chat.Past) bool {
	for _, r := range []*chat.Record{past.Record, past.Sibling} {
		if r != nil && r.Engine != 0 && r.Engine != past.Engine {
			return false
		}
	}
	return true
}

// freeze keeps the bytes of what goes out pruned for the first time. What cannot be kept is not cut.
func (x *exchange) freeze(ctx context.Context, l lane, plan *chat.Plan, freezing map[int][]string) {
	var err error
	for _, cut := range slices.Clone(plan.Cuts) {
		keys := freezing[cut.Message]
		if keys == nil || cut.Kind != chat.Pruned {
			continue
		}
		if frozen, _ := l.cut(ctx); err == nil && !frozen {
			err = x.p.keepSafe(ctx, l.cutKey(), []byte(someCut))
		}
		for _, key := range keys {
			if err == nil {
				err = x.p.keepSafe(ctx, key, []byte(cut.Text))
			}
		}
		if err != nil {
			plan.Keep(cut.Message)
		}
	}
	if err != nil {
		x.p.opt.Log.WarnContext(ctx, "what is sent cannot be remembered, nothing more is cut", "err", err)
	}
}
