package proxy

import (
	"context"
	"fmt"

	"secateur/internal/llm/chat"
)

// keeper stores values that must not be lost before their TTL: when Keep returns, the value is
// durable. Records without Keep are trusted to be durable.
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

// Notes about conversations with the same beginning.
const (
	someCut  = "cut" // some of their results were sent pruned
	leftOver = "off" // a provider has refused our changes to one: cut nothing more
)

// cut returns the notes about conversations with the same beginning.
func (l *lane) cut(ctx context.Context) (frozen, off bool) {
	b, ok, err := l.asked.get(ctx, l.cutKey(), l.p.kept)
	l.note(err)
	return ok, string(b) == leftOver
}

// leave notes that nothing more is cut in conversations with the same beginning.
func (l *lane) leave(ctx context.Context) error {
	return l.p.keepSafe(ctx, l.cutKey(), []byte(leftOver))
}

// Pruning is bounded by size, not by a clock: its time is proportional to the text, and a busy
// machine must send the same bytes. Results beyond the bounds are sent whole, and stay so.
const (
	maxPruneChars = 2_000_000 // of one result
	maxPruneWork  = 8_000_000 // of all results that one request prunes
)

// pruneWork is the number of characters that a request has pruned.
type pruneWork int

// takes reports whether a result of that many characters is pruned, and counts it if so.
func (w *pruneWork) takes(chars int) bool {
	if chars > maxPruneChars || int(*w)+chars > maxPruneWork {
		return false
	}
	*w += pruneWork(chars)
	return true
}

// prune returns the results to send pruned, each in the form in which it was first sent. For new
// ones, freezing has the keys under which to store (freeze) them. A lost form is recreated if the
// result is the same: the engine, the text and the goal must be unchanged. An error means that the
// form in which a result was sent is unknown.
func (x *exchange) prune(ctx context.Context, l lane, conv *chat.Conversation, past chat.Past, by chat.Recovery) (pruned map[int]string, freezing map[int][]string, err error) {
	settings := x.p.opt.Pruning
	if x.p.opt.Forgetful || x.replay && !x.compacts {
		settings.Enabled = false
	}
	pruned, freezing = map[int]string{}, map[int][]string{}
	expired := func() bool { return ctx.Err() != nil }
	var work pruneWork
	jobs := conv.Jobs(settings, past)
	l.asked.fetch(ctx, x.keysOf(jobs...)) // keys that were unknown before the past was
	for _, job := range jobs {
		keys := x.keysOf(job)
		text, at, err := l.thaw(ctx, keys)
		switch {
		case err != nil && job.Fresh:
			continue // never sent, so the whole text is always right
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", errUnknownPast, err)
		case at == 0:
		case at > 0: // in a thread; later requests find it by the conversation
			freezing[job.Message] = keys[:1]
		case job.Frozen, expired(), !work.takes(conv.Messages[job.Message].Chars):
			continue
		case !job.Fresh && !canRepeat(past):
			x.p.opt.Log.WarnContext(ctx, "the form in which a result was sent is lost, it goes out whole; a provider may refuse it", "provider", x.to.provider.name, "hint", goOn)
			continue
		default:
			id := x.p.opt.Originals.ID(x.tenant, conv.Original(job.Message))
			if len(pruned) == 0 && !job.Later {
				job.By = by // the first marker of a conversation
			}
			job.Sent = pruned
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

// frozenKeys returns the keys that prune may read, as far as known before the past is.
func (x *exchange) frozenKeys(conv *chat.Conversation) (keys []string) {
	for _, k := range conv.FrozenKeys(x.p.opt.Pruning, frozenAhead) {
		keys = append(keys, x.frozenKey(k))
	}
	return keys
}

// keysOf returns the keys under which the results of jobs may be frozen.
func (x *exchange) keysOf(jobs ...chat.Job) (keys []string) {
	for _, job := range jobs {
		keys = append(keys, x.frozenKey(job.Key))
		if job.ThreadKey != (chat.Key{}) {
			keys = append(keys, x.frozenKey(job.ThreadKey))
		}
	}
	return keys
}

// thaw returns the bytes frozen under one of the keys, and the index of that key; -1: none.
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

// canRepeat reports whether pruning gives the same result as when it was sent.
func canRepeat(past chat.Past) bool {
	for _, r := range []*chat.Record{past.Record, past.Sibling} {
		if r != nil && r.Engine != 0 && r.Engine != past.Engine {
			return false
		}
	}
	return true
}
