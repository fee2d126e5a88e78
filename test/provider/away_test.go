package provider_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"secateur/internal/store/records"
	"secateur/test/provider"
)

// frail is a store that rejects writes while the disk is full, and does not answer while it is
// down.
type frail struct {
	*records.File

	full, away bool
}

var errFull, errAway = errors.New("no space left on device"), errors.New("the store is away")

func (f *frail) fails() error {
	switch {
	case f.away:
		return errAway
	case f.full:
		return errFull
	}
	return nil
}

func (f *frail) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if f.away {
		return nil, false, errAway
	}
	return f.File.Get(ctx, key)
}

func (f *frail) Kept(ctx context.Context, key string) ([]byte, bool, error) {
	if f.away {
		return nil, false, errAway
	}
	return f.File.Kept(ctx, key)
}

func (f *frail) Put(ctx context.Context, key string, value []byte) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.File.Put(ctx, key, value)
}

func (f *frail) PutNew(ctx context.Context, key string, value []byte) (bool, error) {
	if err := f.fails(); err != nil {
		return false, err
	}
	return f.File.PutNew(ctx, key, value)
}

func (f *frail) Keep(ctx context.Context, key string, value []byte) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.File.Keep(ctx, key, value)
}

// onFrailStore makes the program keep its records in a store that may fail.
func (w *world) onFrailStore() *frail {
	w.t.Helper()
	f := &frail{File: openRecords(w.t, w.dir)}
	w.opt.Records = f
	w.restart()
	return f
}

// fullForAWhile is a conversation that continues while the disk is full.
func fullForAWhile(w *world, seed uint64) {
	store := w.onFrailStore()
	k := newTalk("full", seed)
	for i := range 45 {
		store.full = i%15 >= 8
		if i%15 == 12 {
			w.now = w.now.Add(w.ruler.Terms.Life * 2 / 3)
		}
		w.send(k)
		k.turn()
	}
}

// forkedWhileFull is one that branches off while the disk is full.
func forkedWhileFull(w *world, seed uint64) {
	store := w.onFrailStore()
	k := newTalk("full forks", seed)
	for range 12 {
		w.send(k)
		k.turn()
	}
	store.full = true
	w.send(k)
	a, b := w.fork(k), w.fork(k)
	for i := range 16 {
		store.full = i < 8
		a.turn()
		w.send(a)
		b.turn()
		w.send(b)
		w.now = w.now.Add(w.ruler.Terms.Life / 3)
	}
}

// A cache used while that could not be recorded is as warm as any other, whichever branch has used
// it.
func TestACacheUsedWhileTheStoreWasAwayIsNotTakenForCold(t *testing.T) {
	for name, fail := range map[string]func(*frail, bool){
		"the disk is full":  func(f *frail, is bool) { f.full = is },
		"the store is away": func(f *frail, is bool) { f.away = is },
	} {
		for who, used := range map[string]bool{"itself": true, "a branch of it": true, "nobody": false} {
			t.Run(name+", used by "+who, func(t *testing.T) {
				w := newWorld(t, provider.Claude, nil)
				w.most = math.MaxInt
				life := w.ruler.Terms.Life
				store := w.onFrailStore()
				k := newTalk("away", 5)
				turn := func() {
					w.send(k)
					k.call(k.result(1200))
				}
				for range 12 {
					turn()
				}
				w.now = w.now.Add(2 * life)
				turn() // it was cold, which the program learns
				for range 10 {
					turn()
				}
				masked := w.masked(k)
				fail(store, true)
				other := w.fork(k)
				for range 5 {
					w.now = w.now.Add(life * 2 / 3)
					switch who {
					case "itself":
						w.postOnly(k)
					case "a branch of it":
						other.call(other.result(1200))
						w.postOnly(other)
					}
				}
				fail(store, false)
				w.now = w.now.Add(life / 2)
				w.postOnly(k)
				if more := w.masked(k) - masked; used == (more > 0) {
					t.Errorf("%d more results went out masked", more)
				}
			})
		}
	}
}

// masked returns how many results were masked in the last request of a conversation.
func (w *world) masked(k *talk) (n int) {
	for _, m := range w.ruler.LastMessages(k.name) {
		if isMasked(string(m)) {
			n++
		}
	}
	return n
}
