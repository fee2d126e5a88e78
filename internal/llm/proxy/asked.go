package proxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"secateur/internal/llm/chat"
)

// manyRecords are Records one round trip away that can read and write many values at once. Their
// Put is as durable as a keeper's Keep.
type manyRecords interface {
	// GetEach calls found with the result of Get for each key.
	GetEach(ctx context.Context, keys []string, found func(i int, value []byte, ok bool, err error))
	// PutEach stores n values and returns an error for each. With onlyNew, an existing key gives
	// fs.ErrExist.
	PutEach(ctx context.Context, n int, at func(i int) (key string, value []byte, onlyNew bool)) []error
}

// asked holds values prefetched from the store for one request. It is nil for a local store, which
// is asked when needed.
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

// fetch reads those keys that were not read yet, in one round trip.
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

// get returns a prefetched value, or asks the store for it.
func (a *asked) get(ctx context.Context, key string, ask func(context.Context, string) ([]byte, bool, error)) ([]byte, bool, error) {
	if a != nil {
		if v, known := a.values[key]; known {
			return v.bytes, v.ok, v.err
		}
	}
	return ask(ctx, key)
}

// Sizes of the first round trip, which nearly always suffices.
const (
	placesAhead = 16 // from the end of a conversation; see likelyPlaces for its beginning
	placesMore  = 256
	claimsAhead = 4
	claimsMore  = 16
	frozenAhead = 256
)

// askAhead prefetches what recall is about to read, together with other keys.
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

// askPlaces fetches more places, from the i-th on, beyond those of the first round trip.
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

// write is a value to be stored.
type write struct {
	key     string
	value   []byte
	onlyNew bool // only if the key has no value
	mine    bool // an existing value of another writer is an error
	safe    bool // must not be evicted before its TTL
}

// writeEach stores values, in one round trip if the store is remote, and returns an error for each.
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

// unwrittenOf clears the errors for existing values whose writer does not matter.
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
