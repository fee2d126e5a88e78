package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

// engine stores originals and records together, for every proxy that uses it, such as a successor
// or a replica.
type engine struct {
	records.Memory

	store originals.Memory

	mu      sync.Mutex // guards the fields below
	isFull  bool       // refuses originals
	isTaken bool       // another branch has claimed
	dies    bool       // in the next round trip: the engine does its work, but the response is lost
	isDead  bool       // the proxy sends nothing more
	trips   int
	keys    []string // written in round trips
}

var errDead = errors.New("the proxy has died")

func (e *engine) keep(ctx context.Context, tenant string, texts []string, n int, at func(int) (string, []byte, bool)) (ids []string, unkept, unwritten []error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trips++
	ids, unkept, unwritten = make([]string, len(texts)), make([]error, len(texts)), make([]error, n)
	for i, text := range texts {
		if unkept[i] = originals.ErrFull; !e.isFull {
			ids[i], unkept[i] = e.store.Put(ctx, tenant, text)
		}
	}
	for i := range n {
		key, value, onlyNew := at(i)
		e.keys = append(e.keys, key)
		if e.isTaken && strings.HasPrefix(key, "claim/") {
			_ = e.Memory.Put(ctx, key, make([]byte, 8))
		}
		if !onlyNew {
			unwritten[i] = e.Memory.Put(ctx, key, value)
		} else if first, err := e.PutNew(ctx, key, value); err != nil || !first {
			unwritten[i] = errors.Join(err, fs.ErrExist)
		}
	}
	if e.dies {
		e.isDead = true
		panic(errDead)
	}
	return ids, unkept, unwritten
}

func (e *engine) Put(ctx context.Context, key string, value []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isDead {
		return errDead
	}
	return e.Memory.Put(ctx, key, value)
}

// proxy returns a proxy that stores everything there.
func (e *engine) proxy(t *testing.T, p *fakeProvider, change func(*proxy.Options)) *proxied {
	t.Helper()
	return newProxy(t, func(o *proxy.Options) {
		o.Originals, o.Records, o.Together = &e.store, e, e.keep
		change(o)
	}, one(p))
}

// cutsOf are conversations whose last request has a cut, with a check for it.
var cutsOf = map[string]struct {
	change func(p *fakeProvider) func(*proxy.Options)
	turns  int
	lines  int
	isCut  func(body string) bool
}{
	"pruned": {func(*fakeProvider) func(*proxy.Options) {
		return func(o *proxy.Options) { o.Pruning = pruning() }
	}, 1, 200, func(body string) bool { return strings.Contains(body, "prn_") }},
	"masked": {func(p *fakeProvider) func(*proxy.Options) {
		return func(o *proxy.Options) {
			o.Masking = masking("priced")
			o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 1}}
		}
	}, 9, 40, func(body string) bool { return strings.Contains(body, "Observation masqu") }},
}

// Originals and records are stored in one round trip. Still no record says that a result was sent
// cut whose original was refused, whenever we crash.
func TestOriginalsAndRecordsAreKeptAtOnce(t *testing.T) {
	for kind, c := range cutsOf {
		talkOf := func(turns int) *talk {
			k := newTalk()
			for i := range turns {
				k.turn("read_file", "{}", result(i, c.lines))
			}
			return k
		}
		begin := func(t *testing.T, e *engine) { // everything before the cut
			t.Helper()
			p := counting(t)
			px := e.proxy(t, p, c.change(p))
			for turns := 1; turns < c.turns; turns++ {
				px.post(t, talkOf(turns).request("m"))
				px.running.Wait()
			}
			if e.trips != 0 {
				t.Fatalf("something was cut too early: %d trips", e.trips)
			}
		}
		ask := func(t *testing.T, e *engine, k *talk) (body string) {
			t.Helper()
			p := counting(t)
			px := e.proxy(t, p, c.change(p))
			px.post(t, k.request("m"))
			px.running.Wait()
			return string(p.last(t).body)
		}
		original := result(c.turns-1, c.lines)
		if kind == "masked" {
			original = result(0, c.lines)
		}
		isKept := func(e *engine) bool {
			_, err := e.store.Get(t.Context(), "", originals.ID("", original))
			return err == nil
		}
		t.Run(kind, func(t *testing.T) {
			e := &engine{}
			begin(t, e)
			sent := ask(t, e, talkOf(c.turns))
			if !c.isCut(sent) || !isKept(e) || e.trips != 1 {
				t.Fatalf("cut: %v, kept: %v, in %d trips", c.isCut(sent), isKept(e), e.trips)
			}
			if again := ask(t, e, talkOf(c.turns)); again != sent {
				t.Errorf("a replica sends other bytes: %d, %d before", len(again), len(sent))
			}
		})
		t.Run(kind+" and refused", func(t *testing.T) {
			e := &engine{isFull: true}
			begin(t, e)
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				e.mu.Lock()
				e.isDead = true // nothing more will be written
				e.mu.Unlock()
				jsonAnswer(smallAnswer)(w, r)
			})
			px := e.proxy(t, p, c.change(p))
			px.post(t, talkOf(c.turns).request("m"))
			if px.running.Wait(); c.isCut(string(p.last(t).body)) {
				t.Fatal("it was cut, and its original was refused")
			}
			for _, key := range e.keys {
				if b, ok, _ := e.Get(t.Context(), key); strings.HasPrefix(key, "frozen/") && (!ok || len(b) > 0) {
					t.Errorf("%s stays: %d bytes that were never sent", key, len(b))
				}
			}
			if e.isFull, e.isDead = false, false; kind == "masked" {
				return // it may be masked later
			}
			quoted, _ := json.Marshal(original)
			if sent := ask(t, e, talkOf(c.turns+1)); !strings.Contains(sent, string(quoted)) {
				t.Error("what was sent whole is not any more")
			}
		})
		for _, isFull := range []bool{true, false} {
			name := " and nobody heard that it was kept"
			if isFull {
				name = " and nobody heard that it was refused"
			}
			t.Run(kind+name, func(t *testing.T) {
				e := &engine{}
				begin(t, e)
				e.isFull, e.dies = isFull, true
				ask(t, e, talkOf(c.turns))
				e.dies, e.isDead = false, false
				sent := ask(t, e, talkOf(c.turns))
				if c.isCut(sent) != isKept(e) || isKept(e) == isFull {
					t.Errorf("the store is full: %v; cut: %v, kept: %v", isFull, c.isCut(sent), isKept(e))
				}
				if e.isFull = false; isFull && kind == "pruned" { // sent whole, and it stays so
					if later := ask(t, e, talkOf(c.turns+1)); c.isCut(later[:len(sent)-100]) {
						t.Error("what was sent whole is cut now")
					}
				}
			})
		}
	}
}

// The cost of a cut is claimed in the same round trip. If another branch has claimed since, nothing
// is masked.
func TestAClaimThatIsTakenMasksNothing(t *testing.T) {
	for _, isTaken := range []bool{false, true} {
		e, p := &engine{isTaken: isTaken}, counting(t)
		px := e.proxy(t, p, func(o *proxy.Options) {
			o.Masking = masking("priced")
			o.Masking.MaxLoss = 0.2
			o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 1, CachedInput: new(0.1)}}
		})
		k := newTalk()
		for turns := 0; e.trips == 0; turns++ {
			if turns == 100 {
				t.Fatal("nothing was ever masked")
			}
			k.turn("read_file", "{}", result(turns, 40))
			px.post(t, k.request("m"))
			px.running.Wait()
		}
		body := string(p.last(t).body)
		if isMasked := strings.Contains(body, "Observation masqu"); isMasked == isTaken {
			t.Errorf("another branch has claimed: %v, masked: %v", isTaken, isMasked)
		}
		if !slices.ContainsFunc(e.keys, func(key string) bool { return strings.HasPrefix(key, "claim/") && strings.HasSuffix(key, "/0") }) {
			t.Errorf("the first claim is not among %q", e.keys)
		}
	}
}
