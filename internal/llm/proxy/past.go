package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// lane is where the sent form of a conversation is recorded: one per provider cache, as far as we
// know how the provider separates caches.
type lane struct {
	p      *Proxy
	tenant string
	key    string // of the lane
	model  string // of the provider and the model
	root   string // of the conversation's beginning
	record string // of this request, in this lane
	talk   bool   // it has no tool result; see talk.go
	binds  bool   // the model may check its reasoning against what was sent: what stands masked must not be lost, be there reasoning yet or not
	last   string // of this request, in any lane

	// Last recorded request with this beginning to this model, Unix seconds; 0: never.
	written int64
	asked   *asked // prefetched values; nil: none
	vague   bool   // of the last such request only the latest possible time is known
	claimed int    // number of claims by branches of this lane
	unknown error  // why a part of its past could not be read; nil: it could
}

func (x *exchange) laneOf(conv *chat.Conversation) lane {
	provider, model := x.to.provider.name, x.modelOf(conv)
	l := lane{p: x.p, tenant: x.tenant, key: conv.Lane(provider, model).String(), model: provider + "/" + model, root: conv.Root().String()}
	l.record, l.last, l.binds, l.talk = l.recordKey(conv.Key()), l.lastKey(conv.Key()), conv.Binds(model), isTalk(conv)
	return l
}

// keyPart escapes a tenant's name, so that it cannot reach into the next part of a key.
func keyPart(tenant string) string {
	if !strings.ContainsAny(tenant, "/%") {
		return tenant
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(tenant)
}

// TenantOf returns the tenant of a record's key, as written by keyPart.
func TenantOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	tenant, _, _ := strings.Cut(rest, "/")
	return tenant
}

func (l *lane) recordKey(k chat.Key) string {
	return "record/" + keyPart(l.tenant) + "/" + l.key + "/" + k.String()
}

func (l *lane) touchedKey() string {
	return "touched/" + keyPart(l.tenant) + "/" + l.model + "/" + l.root
}

func (l *lane) claimKey(n int) string {
	return "claim/" + keyPart(l.tenant) + "/" + l.key + "/" + l.root + "/" + strconv.Itoa(n)
}
func (l *lane) begunKey() string          { return "begun/" + keyPart(l.tenant) + "/" + l.root }
func (l *lane) cutKey() string            { return "cut/" + keyPart(l.tenant) + "/" + l.root }
func (l *lane) learnedKey() string        { return "learned/" + keyPart(l.tenant) + "/" + l.model }
func (l *lane) lastKey(k chat.Key) string { return "last/" + keyPart(l.tenant) + "/" + k.String() }
func (x *exchange) frozenKey(k chat.Key) string {
	return "frozen/" + keyPart(x.tenant) + "/" + k.String()
}

// maxPlaces limits how far back a record is searched.
const maxPlaces = 1024

// likelyPlaces is how many places are checked, at both ends, if no conversation with this beginning
// is known. It may continue one that its client has shortened.
const likelyPlaces = 8

// get reads a value and notes a failure to read it.
func (l *lane) get(ctx context.Context, key string) ([]byte, bool) {
	b, ok, err := l.asked.get(ctx, key, l.p.opt.Records.Get)
	l.note(err)
	return b, ok
}

func (l *lane) note(err error) {
	if err != nil {
		l.unknown = err
	}
}

// errUnknownPast means that the form in which a conversation was sent is unknown.
var errUnknownPast = errors.New("what was sent before cannot be asked for")

// recall finds what is known of a conversation: the last request of this lane, and of any lane. If
// the store is down, the requests that this replica has sent still count, and nothing more is cut.
// If it has sent none, the past is unknown, which is the error. As far as possible it reads
// prefetched values.
func (l *lane) recall(ctx context.Context, conv *chat.Conversation) (chat.Past, error) {
	past := chat.Past{Alone: true}
	if !l.talk {
		past.Touched, past.Alone = l.touched(ctx)
		past.Frozen, past.Off = l.cut(ctx)
	}
	talk := conv.Talk()
	isKnown := sync.OnceValue(func() bool { return past.Touched > 0 || past.Frozen || l.begun(ctx) })
	for i, place := range conv.Places() {
		if i == maxPlaces || past.Record != nil || i >= placesAhead && l.unknown != nil {
			break
		}
		if i >= likelyPlaces && place.Messages > likelyPlaces && !isKnown() {
			continue
		}
		l.askPlaces(ctx, conv, i)
		if place.Messages <= talk {
			var sibling *chat.Record
			if past.Record, sibling = l.talkAt(ctx, place, i > 0); past.Sibling == nil {
				past.Sibling = sibling
			}
			continue
		}
		past.Record = l.recordAt(ctx, place, i > 0)
		if past.Record == nil && past.Sibling == nil {
			past.Sibling = l.siblingAt(ctx, place)
		}
	}
	if past.Record == nil && l.unknown != nil {
		return past, fmt.Errorf("%w: %w", errUnknownPast, l.unknown)
	}
	if l.talk && past.IsSeen() {
		past.Touched, past.Alone = l.touched(ctx)
	}
	if past.Record != nil && past.Touched == 0 { // the first request of a talk, which does not write its time elsewhere
		past.Touched = past.Record.Time
	}
	past.Learned = l.learned(ctx)
	if !l.talk {
		past.Claims, l.claimed = l.claims(ctx)
	}
	past.Off = past.Off || l.unknown != nil
	return past, nil
}

// begun reports whether a request with this beginning was ever sent, to any model.
func (l *lane) begun(ctx context.Context) bool {
	_, ok := l.get(ctx, l.begunKey())
	return ok
}

// recordAt returns the record of a request of this lane. One as long as ours is no predecessor but
// the same request at the same time. It is not waited for.
func (l *lane) recordAt(ctx context.Context, place chat.Place, wait bool) *chat.Record {
	key := l.recordKey(place.Key)
	if wait {
		if r := l.p.flights.find(ctx, key); r != nil {
			return r
		}
	}
	return l.recordOf(ctx, key, place)
}

// siblingAt returns the record of a request of any lane.
func (l *lane) siblingAt(ctx context.Context, place chat.Place) *chat.Record {
	if r := l.inMemory(l.lastKey(place.Key)); r != nil {
		return r
	}
	key, ok := l.get(ctx, l.lastKey(place.Key))
	if !ok {
		return nil
	}
	return l.recordOf(ctx, string(key), place)
}

// inMemory returns a record that the store does not have.
func (l *lane) inMemory(key string) *chat.Record {
	return l.p.unwritten.find(key)
}

func (l *lane) recordOf(ctx context.Context, key string, place chat.Place) *chat.Record {
	if r := l.inMemory(key); r != nil {
		return r
	}
	find := l.p.opt.Records.Get
	if l.binds {
		find = l.p.kept
	}
	b, ok, err := l.asked.get(ctx, key, find)
	l.note(err)
	if !ok {
		return nil
	}
	return decodeRecord(b, place)
}

// decodeRecord reads the record of a place; nil: it is none.
func decodeRecord(b []byte, place chat.Place) *chat.Record {
	var r chat.Record
	if err := r.UnmarshalBinary(b); err != nil || r.Messages != place.Messages {
		return nil
	}
	return &r
}

// keep remembers what was sent, for this lane and for the others, and whatever else is to be written with it.
func (l *lane) keep(ctx context.Context, r *chat.Record, others ...write) error {
	writes, err := l.recordWrites(r)
	if err != nil {
		return err
	}
	err = errors.Join(l.p.writeEach(ctx, append(writes, others...))...)
	if err == nil {
		l.p.unwritten.written(l.record, l.last)
	}
	return err
}

func (l *lane) recordWrites(r *chat.Record) ([]write, error) {
	if l.talk {
		return l.talkWrites(r)
	}
	b, err := r.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	masks := slices.ContainsFunc(r.Cuts, func(s chat.Sent) bool { return s.Kind == chat.Masked })
	return []write{{key: l.record, value: b, safe: l.binds && masks}, {key: l.last, value: []byte(l.record)}}, nil
}

// touchEvery is the interval, in seconds, of recording that a conversation continues.
const touchEvery = 30

// touched returns when a request with this beginning may last have been sent to this model. alone
// reports whether all of them were of this lane.
func (l *lane) touched(ctx context.Context) (at int64, alone bool) {
	b, ok := l.get(ctx, l.touchedKey())
	if !ok || len(b) < 8 {
		return 0, true
	}
	l.written = int64(binary.LittleEndian.Uint64(b)) //nolint:gosec // a time
	if unwritten := l.p.unwritten.sent.Load(); unwritten > l.written {
		l.vague = true
		return unwritten, false // it may belong to any conversation and any lane
	}
	return l.written, string(b[8:]) == l.key
}

// touch returns the writes for a sent request.
func (l *lane) touch(past chat.Past, now int64) (writes []write) {
	who := l.key
	if past.Touched > 0 && !past.Alone || l.unknown != nil {
		who = "" // several lanes, for good; or the store is down
	}
	if l.written > 0 && now-l.written < touchEvery && past.Alone == (who == l.key) {
		return nil
	}
	if l.written == 0 {
		writes = append(writes, write{key: l.begunKey(), value: []byte{1}})
	}
	return append(writes, write{key: l.touchedKey(), value: append(binary.LittleEndian.AppendUint64(nil, uint64(now)), who...)}) //nolint:gosec // a time
}

// learned returns what other requests have taught about the model.
func (l *lane) learned(ctx context.Context) (known bill.Learned) {
	if b, ok := l.get(ctx, l.learnedKey()); ok {
		_ = known.UnmarshalBinary(b) // an invalid value teaches nothing
	}
	return known
}

// learn records what a response has taught, if it is new.
func (l *lane) learn(ctx context.Context, was, is bill.Learned) error {
	if l.vague && was.Warm == is.Warm { // an entry gone after a pause may have been gone for longer
		is.Cold = was.Cold
	}
	if was.Warm == is.Warm && was.Cold == is.Cold && was.Weights.Near(is.Weights) {
		return nil
	}
	// Others may have learned meanwhile: the longest lifetime counts.
	now := l.learned(ctx)
	if now.Warm > is.Warm {
		is.Warm = now.Warm
		if is.Cold <= is.Warm {
			is.Cold = now.Cold
		}
	}
	b, err := is.AppendBinary(nil)
	if err != nil {
		return err
	}
	return l.p.opt.Records.Put(ctx, l.learnedKey(), b)
}

// maxClaims limits the claims by the branches of a conversation.
const maxClaims = 64

// claims returns the sum and the number of claims by the branches of this lane.
func (l *lane) claims(ctx context.Context) (sum float64, n int) {
	for ; n < maxClaims; n++ {
		if n >= claimsAhead && (n-claimsAhead)%claimsMore == 0 {
			l.askClaims(ctx, n)
		}
		b, ok := l.get(ctx, l.claimKey(n))
		if !ok || len(b) != 8 {
			break
		}
		sum += math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return sum, n
}

// claim reserves an amount of the account for this branch. It fails if another branch has claimed
// since: then less is left than assumed.
func (l *lane) claim(ctx context.Context, amount, known float64) bool {
	sum, n := l.claims(ctx)
	if sum != known || n == maxClaims {
		return false
	}
	w := l.claimWrite(n, amount)
	first, err := l.p.opt.Records.PutNew(ctx, w.key, w.value)
	return err == nil && first
}

// claimWrite is the n-th claim. Claims have no gaps, so it fails if another branch has claimed
// since.
func (l *lane) claimWrite(n int, amount float64) write {
	return write{key: l.claimKey(n), value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(amount)), onlyNew: true, mine: true}
}
