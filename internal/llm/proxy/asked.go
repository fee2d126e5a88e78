package proxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"secateur/internal/llm/chat"
)

// manyRecords are Records a round trip away: many are asked for, and written, at once. What was Put there is as safe as what is kept by a keeper.
type manyRecords interface {
	// GetEach hands over what Get would return for each key.
	GetEach(ctx context.Context, keys []string, found func(i int, value []byte, ok bool, err error))
	// PutEach keeps n values, and tells of each why it was not kept. One that is onlyNew is kept where its key has none, or the error is fs.ErrExist.
	PutEach(ctx context.Context, n int, at func(i int) (key string, value []byte, onlyNew bool)) []error
}

// asked is what the store was asked for ahead of its use, for one request: nil, or a store that is near, and it is asked when it is needed.
type asked struct {
	store  manyRecords
	values map[string]value
}

type value struct {
	bytes []byte
	ok    bool
	err   error
}

func (p *Proxy) newAsked() *asked {
	if store, ok := p.opt.Records.(manyRecords); ok {
		return &asked{store: store, values: map[string]value{}}
	}
	return nil
}

// fetch asks for those keys that were not asked for yet, in one round trip.
func (a *asked) fetch(ctx context.Context, keys []string) {
	if a == nil {
		return
	}
	fresh := keys[:0]
	for _, key := range keys {
		if _, known := a.values[key]; !known {
			fresh = append(fresh, key)
		}
	}
	if len(fresh) == 0 {
		return
	}
	a.store.GetEach(ctx, fresh, func(i int, b []byte, ok bool, err error) { a.values[fresh[i]] = value{b, ok, err} })
}

// get gives a value that was fetched, or asks the store for it.
func (a *asked) get(ctx context.Context, key string, ask func(context.Context, string) ([]byte, bool, error)) ([]byte, bool, error) {
	if a != nil {
		if v, known := a.values[key]; known {
			return v.bytes, v.ok, v.err
		}
	}
	return ask(ctx, key)
}

// How much is asked for with the first round trip: nearly always all there is to ask for.
const (
	placesAhead = 16 // at the end of a conversation; its beginning is likelyPlaces
	placesMore  = 256
	claimsAhead = 4
	claimsMore  = 16
	frozenAhead = 256
)

// askAhead fetches what recall is about to ask for, together with the keys that others will need.
func (l *lane) askAhead(ctx context.Context, conv *chat.Conversation, others func(*chat.Conversation) []string) {
	if l.asked = l.p.newAsked(); l.asked == nil {
		return
	}
	keys := append(others(conv), l.touchedKey(), l.begunKey(), l.learnedKey())
	if !l.talk {
		keys = append(keys, l.cutKey())
		for n := range claimsAhead {
			keys = append(keys, l.claimKey(n))
		}
	}
	talk := conv.Talk()
	for i, place := range conv.Places() {
		if i == maxPlaces {
			break
		}
		if i < placesAhead || place.Messages <= likelyPlaces {
			keys = l.appendPlace(keys, place, talk)
		}
	}
	l.asked.fetch(ctx, keys)
}

// appendPlace adds the keys of a place. A request under way has not written yet what it will: its record is asked for when it has landed.
func (l *lane) appendPlace(keys []string, place chat.Place, talk int) []string {
	record, isTalk := l.recordKey(place.Key), place.Messages <= talk
	switch isUnderWay := l.p.flights.has(record); {
	case isUnderWay && isTalk:
		return keys
	case !isUnderWay && !isTalk:
		keys = append(keys, record)
	}
	return append(keys, l.lastKey(place.Key))
}

// askPlaces fetches more places, from the i-th on, where the first round trip did not go so far back.
func (l *lane) askPlaces(ctx context.Context, conv *chat.Conversation, from int) {
	if l.asked == nil || from < placesAhead || (from-placesAhead)%placesMore != 0 {
		return
	}
	var keys []string
	talk := conv.Talk()
	for i, place := range conv.Places() {
		if i == from+placesMore || i == maxPlaces {
			break
		}
		if i >= from {
			keys = l.appendPlace(keys, place, talk)
		}
	}
	l.asked.fetch(ctx, keys)
}

// askClaims fetches more claims, from the n-th on.
func (l *lane) askClaims(ctx context.Context, n int) {
	if l.asked == nil {
		return
	}
	keys := make([]string, claimsMore)
	for i := range keys {
		keys[i] = l.claimKey(n + i)
	}
	l.asked.fetch(ctx, keys)
}

// write is a value to be kept.
type write struct {
	key     string
	value   []byte
	onlyNew bool // where the key has none
	mine    bool // that others have written it counts as not kept
	safe    bool // must not be lost before its time
}

// writeEach keeps values, in one round trip where the store is one away, and tells of each why it was not kept.
func (p *Proxy) writeEach(ctx context.Context, writes []write) []error {
	if store, ok := p.opt.Records.(manyRecords); ok {
		if len(writes) == 0 {
			return nil
		}
		return unwrittenOf(writes, store.PutEach(ctx, len(writes), func(i int) (string, []byte, bool) { return writes[i].key, writes[i].value, writes[i].onlyNew }))
	}
	errs := make([]error, len(writes))
	for i, w := range writes {
		errs[i] = p.writeOne(ctx, w)
	}
	return errs
}

// unwrittenOf forgets the errors that say no more than that a value was there, of which it does not matter whose it is.
func unwrittenOf(writes []write, errs []error) []error {
	for i, err := range errs {
		if errors.Is(err, fs.ErrExist) && !writes[i].mine {
			errs[i] = nil
		}
	}
	return errs
}

func (p *Proxy) writeOne(ctx context.Context, w write) error {
	if w.onlyNew {
		switch _, ok, err := p.kept(ctx, w.key); {
		case err != nil:
			return fmt.Errorf("look for a record: %w", err)
		case ok:
			return nil
		}
	}
	if w.safe {
		return p.keepSafe(ctx, w.key, w.value)
	}
	return p.opt.Records.Put(ctx, w.key, w.value)
}
