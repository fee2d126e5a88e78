package proxy

import (
	"context"
	"fmt"

	"secateur/internal/llm/chat"
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
	b, ok, err := l.asked.get(ctx, l.cutKey(), l.p.kept)
	l.note(err)
	return ok, string(b) == leftOver
}

// leave writes down that nothing more is cut of conversations that begin alike.
func (l *lane) leave(ctx context.Context) error {
	return l.p.keepSafe(ctx, l.cutKey(), []byte(leftOver))
}

// What is pruned is bounded by its size, not by a clock: pruning takes time in proportion to the text, and a busy machine sends the
// same bytes. What is beyond passes whole, and stays so.
const (
	maxPruneChars = 2_000_000 // of one result
	maxPruneWork  = 8_000_000 // of all results that one request has pruned
)

// pruneWork is how many characters a request has pruned.
type pruneWork int

// takes says whether a result of so many characters is pruned, and counts it then.
func (w *pruneWork) takes(chars int) bool {
	if chars > maxPruneChars || int(*w)+chars > maxPruneWork {
		return false
	}
	*w += pruneWork(chars)
	return true
}

// prune gives the results that go out pruned, each in the form in which it first did, and of those that never did the
// keys under which they are to be frozen. Where the form is lost it is made anew, if the same comes out: what prunes
// is the same, and so are the text and the goal. The error says that nobody knows in which form a result was sent.
func (x *exchange) prune(ctx context.Context, l lane, conv *chat.Conversation, past chat.Past, by chat.Recovery) (pruned map[int]string, freezing map[int][]string, err error) {
	settings := x.p.opt.Pruning
	if x.p.opt.Forgetful || x.replay && !x.compacts {
		settings.Enabled = false
	}
	pruned, freezing = map[int]string{}, map[int][]string{}
	expired := func() bool { return ctx.Err() != nil }
	var work pruneWork
	jobs := conv.Jobs(settings, past)
	l.asked.fetch(ctx, x.keysOf(jobs...)) // those that could not be told before the past was known
	for _, job := range jobs {
		keys := x.keysOf(job)
		text, at, err := l.thaw(ctx, keys)
		switch {
		case err != nil && job.Fresh:
			continue // it was never sent: whole, it cannot be wrong
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", errUnknownPast, err)
		case at == 0:
		case at > 0: // in a thread; later requests know it by the conversation
			freezing[job.Message] = keys[:1]
		case job.Frozen, expired(), !work.takes(conv.Messages[job.Message].Chars):
			continue
		case !job.Fresh && !canRepeat(past):
			x.p.opt.Log.WarnContext(ctx, "the form in which a result was sent is lost, it goes out whole; a provider may refuse it", "provider", x.to.provider.name, "hint", goOn)
			continue
		default:
			id := x.p.opt.Originals.ID(x.tenant, conv.Text(job.Message))
			if len(pruned) == 0 && !job.Later {
				job.By = by // the first marker of a conversation
			}
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

// frozenKeys are those that prune may ask for, as far as can be told before the past is known.
func (x *exchange) frozenKeys(conv *chat.Conversation) (keys []string) {
	for _, k := range conv.FrozenKeys(x.p.opt.Pruning, frozenAhead) {
		keys = append(keys, x.frozenKey(k))
	}
	return keys
}

// keysOf are those under which the results of jobs may be frozen.
func (x *exchange) keysOf(jobs ...chat.Job) (keys []string) {
	for _, job := range jobs {
		keys = append(keys, x.frozenKey(job.Key))
		if job.ThreadKey != (chat.Key{}) {
			keys = append(keys, x.frozenKey(job.ThreadKey))
		}
	}
	return keys
}

// thaw gives the bytes that are frozen under one of the keys, and under which; -1: under none.
func (l *lane) thaw(ctx context.Context, keys []string) (text string, at int, err error) {
	for i, key := range keys {
		switch b, ok, err := l.asked.get(ctx, key, l.p.kept); {
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
