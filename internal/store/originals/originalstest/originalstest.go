// Package originalstest holds the contract suite for every store of originals.
package originalstest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
)

// Setup of the stores under test.
const (
	TTL      = time.Hour
	MaxBytes = 14 << 20
)

// expiryGrain is how late a store may expire an original.
const expiryGrain = 2 * time.Second

// Run checks a store against its contract. For each rule open returns a new, empty store with the
// TTL and MaxBytes of this package. open closes it with t.Cleanup, if necessary. Each rule runs in
// a bubble of testing/synctest, so waiting costs nothing.
func Run(t *testing.T, open func(t *testing.T) originals.Store) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { rule.check(t, subject{open(t), time.Sleep, time.Nanosecond}) })
		})
	}
}

// RunOutside is Run for a store with an external clock. open also returns a function that lets time
// pass for it.
func RunOutside(t *testing.T, open func(t *testing.T) (originals.Store, func(time.Duration))) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			store, pass := open(t)
			rule.check(t, subject{store, pass, time.Minute / 2})
		})
	}
}

// RunShared checks how tenants share a store. open returns a new, empty store with the TTL and
// MaxBytes of this package, for several tenants. oldest says whether a full store evicts.
func RunShared(t *testing.T, open func(t *testing.T, oldest bool) originals.Store) {
	t.Helper()
	t.Run("whoever fills the store leaves some of it to others", func(t *testing.T) { leavesRoom(t, open(t, false)) })
	t.Run("nobody's originals go for those of whoever has most", func(t *testing.T) { dropsOfTheLargest(t, open(t, true)) })
}

func leavesRoom(t *testing.T, s originals.Store) {
	t.Helper()
	kept := map[string][]string{}
	for _, tenant := range []string{"a", "", "c"} {
		for i := uint64(0); ; i++ {
			id, err := s.Put(t.Context(), tenant, Noise(i, 1<<20))
			if errors.Is(err, originals.ErrFull) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kept[tenant] = append(kept[tenant], id)
		}
		if len(kept[tenant]) == 0 {
			t.Errorf("tenant %q finds no room: others have %d and %d", tenant, len(kept["a"]), len(kept[""]))
		}
	}
	if len(kept["a"]) < 5 {
		t.Errorf("the first tenant has room for %d, want at least a third of the store", len(kept["a"]))
	}
	if !s.Stats().Full {
		t.Error("that somebody was refused is not told")
	}
	for tenant, ids := range kept {
		for i, id := range ids {
			if got, err := s.Get(t.Context(), tenant, id); err != nil || got != Noise(uint64(i), 1<<20) {
				t.Errorf("text %d of tenant %q is lost: %v", i, tenant, err)
			}
		}
	}
}

func dropsOfTheLargest(t *testing.T, s originals.Store) {
	t.Helper()
	keep := func(tenant string, seed uint64) string {
		id, err := s.Put(t.Context(), tenant, Noise(seed, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for i := range uint64(20) {
		keep("greedy", i)
	}
	var modest []string
	for i := range uint64(4) {
		modest = append(modest, keep("modest", i))
	}
	for i := range uint64(20) {
		last := keep("greedy", 100+i)
		if _, err := s.Get(t.Context(), "greedy", last); err != nil {
			t.Errorf("what was just put is gone: %v", err)
		}
	}
	for i, id := range modest {
		if got, err := s.Get(t.Context(), "modest", id); err != nil || got != Noise(uint64(i), 1<<20) {
			t.Errorf("text %d of the modest tenant is gone for the greedy one's: %v", i, err)
		}
	}
	if stats := s.Stats(); stats.Dropped == 0 || stats.Refused != 0 {
		t.Errorf("%+v, want some dropped and none refused", stats)
	}
}

// subject is a store under test, with its clock.
type subject struct {
	originals.Store

	pass func(time.Duration)
	just time.Duration // this long before its expiry, an original still exists
}

var rules = []struct {
	name  string
	check func(*testing.T, subject)
}{
	{"what is put comes back byte for byte", roundTrip},
	{"an id is a function of tenant and text", sameID},
	{"a text kept twice takes the room of one", keptOnce},
	{"nobody finds what is another tenant's", tenantsApart},
	{"what is no id is not found", noID},
	{"an original lives its time and no longer", expires},
	{"put of the same text renews", putRenews},
	{"get renews", getRenews},
	{"get by another tenant does not renew", othersDoNotRenew},
	{"an expired original can be put again", putAfterExpiry},
	{"full is refused, and nothing living is lost for it", full},
	{"what is kept can be renewed while full", renewWhileFull},
	{"room comes back as originals expire", roomComesBack},
	{"a text larger than the store is refused as such", tooLarge},
	{"many at once", concurrent},
}

// Noise returns n incompressible bytes, the same for the same seed.
func Noise(seed uint64, n int) string {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return string(b)
}

func roundTrip(t *testing.T, s subject) {
	t.Helper()
	texts := map[string]string{
		"empty":               "",
		"one NUL":             "\x00",
		"only NULs":           strings.Repeat("\x00", 5000),
		"lines":               "a\r\nb\n\nc",
		"unicode":             "é 𝄞 \u2028 \ufeff",
		"lone surrogate":      "\xed\xa0\x80 and \xed\xbf\xbf",
		"invalid UTF-8":       "\xff\xfe\xc0\x80\x80",
		"every byte":          everyByte(),
		"ten megabytes":       strings.Repeat("0123456789abcdef the same line again\n", 10<<20/37),
		"a megabyte of noise": Noise(1, 1<<20),
	}
	ids := map[string]string{}
	for name, text := range texts {
		ids[name] = put(t, s, "tenant", text)
	}
	for name, text := range texts {
		got, err := s.Get(t.Context(), "tenant", ids[name])
		if err != nil || got != text {
			t.Errorf("%s: Get = %d bytes, %v, want the %d bytes that were put", name, len(got), err, len(text))
		}
	}
}

func everyByte() string {
	b := make([]byte, 0, 1<<16)
	for i := range 1 << 15 {
		b = append(b, byte(i), byte(i>>8))
	}
	return string(b)
}

func sameID(t *testing.T, s subject) {
	t.Helper()
	for _, tenant := range []string{"", "a", "a\x00", strings.Repeat("t", 1000), "\xff"} {
		if id, again, want := put(t, s, tenant, "text"), put(t, s, tenant, "text"), s.ID(tenant, "text"); id != want || again != want {
			t.Errorf("Put(%q) = %s and then %s, want %s both times", tenant, id, again, want)
		}
	}
	if a, b := put(t, s, "a", "bc"), put(t, s, "ab", "c"); a == b {
		t.Errorf("tenant a's bc and tenant ab's c have the same id %s", a)
	}
}

func keptOnce(t *testing.T, s subject) {
	t.Helper()
	text := Noise(1, MaxBytes/2)
	put(t, s, "", text)
	before := s.Stats()
	for range 5 {
		put(t, s, "", text)
	}
	if after := s.Stats(); after.Bytes != before.Bytes || after.Count != 1 {
		t.Errorf("Stats after putting a text six times = %+v, want as after once: %+v", after, before)
	}
}

func tenantsApart(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "alice", "alice's text")
	for _, other := range []string{"bob", "", "alice\x00", "Alice"} {
		_, err := s.Get(t.Context(), other, id)
		wantNotFound(t, err)
		if _, unknown := s.Get(t.Context(), other, s.ID(other, "never put")); err == nil || unknown == nil ||
			err.Error() != unknown.Error() {
			t.Errorf("tenant %q can tell alice's id (%v) from an unknown one (%v)", other, err, unknown)
		}
	}
	if got, err := s.Get(t.Context(), "alice", id); err != nil || got != "alice's text" {
		t.Errorf("Get by its owner = %q, %v", got, err)
	}
}

func noID(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	for _, wrong := range []string{
		"", "prn_", "prn_0", id + "0", id[:len(id)-1], " " + id, id + "\n", id[4:], strings.ToLower(id),
		"prn_" + strings.Repeat("U", 26), "prn_" + strings.Repeat("/", 26), "prn_../../../../../../etc/passwd"[:30],
		"../" + id, "prn_" + strings.Repeat("\x00", 26), strings.Repeat("prn_", 1<<16), "lock", "corrupt",
	} {
		if _, err := s.Get(t.Context(), "", wrong); !errors.Is(err, originals.ErrNotFound) {
			t.Errorf("Get(%.40q): err = %v, want ErrNotFound", wrong, err)
		}
	}
}

func expires(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	s.pass(TTL - s.just)
	mustGet(t, s, id, "text")
	s.pass(TTL + expiryGrain)
	_, err := s.Get(t.Context(), "", id)
	wantNotFound(t, err)
}

func putRenews(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	for range 5 {
		s.pass(TTL - s.just)
		put(t, s, "", "text")
	}
	s.pass(TTL - s.just)
	mustGet(t, s, id, "text")
}

func getRenews(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	for range 5 {
		s.pass(TTL - s.just)
		mustGet(t, s, id, "text")
	}
}

func othersDoNotRenew(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	for range 4 {
		s.pass(TTL / 4)
		_, err := s.Get(t.Context(), "other", id)
		wantNotFound(t, err)
	}
	s.pass(expiryGrain)
	_, err := s.Get(t.Context(), "", id)
	wantNotFound(t, err)
}

func putAfterExpiry(t *testing.T, s subject) {
	t.Helper()
	id := put(t, s, "", "text")
	s.pass(2 * TTL)
	put(t, s, "", "text")
	s.pass(TTL - s.just)
	mustGet(t, s, id, "text")
}

func full(t *testing.T, s subject) {
	t.Helper()
	ids := fill(t, s)
	if len(ids) < 10 {
		t.Errorf("only %d texts of a megabyte fit into %d bytes", len(ids), MaxBytes)
	}
	stats := s.Stats()
	if stats.Count != len(ids) || stats.Bytes > MaxBytes || stats.MaxBytes != MaxBytes || stats.Refused != 1 {
		t.Errorf("Stats of a full store with %d originals and one refused = %+v", len(ids), stats)
	}
	for i, id := range ids {
		mustGet(t, s, id, Noise(uint64(i), 1<<20))
	}
}

func renewWhileFull(t *testing.T, s subject) {
	t.Helper()
	ids := fill(t, s)
	s.pass(TTL - time.Minute)
	put(t, s, "", Noise(0, 1<<20))
	s.pass(time.Minute + expiryGrain)
	mustGet(t, s, ids[0], Noise(0, 1<<20))
	_, err := s.Get(t.Context(), "", ids[1])
	wantNotFound(t, err)
}

func roomComesBack(t *testing.T, s subject) {
	t.Helper()
	ids := fill(t, s)
	s.pass(TTL / 2)
	mustGet(t, s, ids[0], Noise(0, 1<<20))
	s.pass(TTL/2 + expiryGrain)
	for i := range len(ids) - 1 {
		put(t, s, "", Noise(uint64(1000+i), 1<<20))
	}
	mustGet(t, s, ids[0], Noise(0, 1<<20))
}

// fill puts texts of a megabyte, Noise(0), Noise(1) and so on, until the store refuses one.
func fill(t *testing.T, s subject) (ids []string) {
	t.Helper()
	for i := uint64(0); ; i++ {
		id, err := s.Put(t.Context(), "", Noise(i, 1<<20))
		if err != nil {
			if !errors.Is(err, originals.ErrFull) {
				t.Fatalf("Put into a full store: err = %v, want ErrFull", err)
			}
			return ids
		}
		ids = append(ids, id)
		if i > MaxBytes>>20 {
			t.Fatalf("%d megabytes fit into %d bytes", i, MaxBytes)
		}
	}
}

func tooLarge(t *testing.T, s subject) {
	t.Helper()
	text := strings.Repeat("a", MaxBytes+1) // too large, however well it compresses
	if _, err := s.Put(t.Context(), "", text); !errors.Is(err, originals.ErrTooLarge) {
		t.Errorf("Put of %d bytes: err = %v, want ErrTooLarge", len(text), err)
	}
	_, err := s.Get(t.Context(), "", s.ID("", text))
	wantNotFound(t, err)
	put(t, s, "", "a small text still fits")
}

func concurrent(t *testing.T, s subject) {
	t.Helper()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				// Some texts are put by all, some by one; some are large.
				text := strings.Repeat(fmt.Sprintf("text %d ", i), 1+i%7*1000)
				tenant := []string{"shared", fmt.Sprint("own ", g)}[i%2]
				id, err := s.Put(t.Context(), tenant, text)
				if err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				if got, err := s.Get(t.Context(), tenant, id); err != nil || got != text {
					t.Errorf("Get = %d bytes, %v, want %d bytes", len(got), err, len(text))
				}
				s.Stats()
			}
		})
	}
	wg.Wait()
}

func put(t *testing.T, s subject, tenant, text string) string {
	t.Helper()
	id, err := s.Put(t.Context(), tenant, text)
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(text), err)
	}
	return id
}

func mustGet(t *testing.T, s subject, id, want string) {
	t.Helper()
	if got, err := s.Get(t.Context(), "", id); err != nil || got != want {
		t.Fatalf("Get = %d bytes, %v, want the %d bytes that were put", len(got), err, len(want))
	}
}

func wantNotFound(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, originals.ErrNotFound) {
		t.Errorf("Get: err = %v, want ErrNotFound", err)
	}
}
