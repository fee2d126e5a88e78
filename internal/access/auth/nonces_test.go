package auth

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"secateur/internal/access"
)

// A busy key uses up its own share of the nonces, not that of others.
func TestOneKeyDoesNotUseUpTheNoncesOfOthers(t *testing.T) {
	n, now := &nonces{}, time.Now()
	use := func(h access.Holder, nonce string, at time.Time) access.Cause {
		cause, err := n.use(h, hashed(nonce), at.Unix(), at)
		if err != nil {
			t.Fatal(err)
		}
		return cause
	}
	busy, quiet := access.Holder{Principal: "busy"}, access.Holder{Principal: "quiet"}
	for i := range maxNonces {
		cause := use(busy, strconv.Itoa(i), now)
		if cause == access.CauseTooMany {
			break
		}
		if cause != "" {
			t.Fatalf("nonce %d: %q", i, cause)
		}
	}
	if cause := use(busy, "one more", now); cause != access.CauseTooMany {
		t.Errorf("beyond its share: %q, want too_many", cause)
	}
	if cause := use(quiet, "fresh", now); cause != "" {
		t.Errorf("a fresh signature of another key: %q, want it good", cause)
	}
	for _, used := range []string{"0", "fresh"} {
		if cause := use(quiet, used, now); cause != access.CauseReplayed {
			t.Errorf("%s again: %q, want replayed", used, cause)
		}
	}
	now = now.Add(nonceLife)
	if cause := use(busy, "later", now); cause != "" {
		t.Errorf("ten minutes later: %q, want it good", cause)
	}
	if cause := use(quiet, "fresh", now); cause != access.CauseReplayed {
		t.Errorf("after ten minutes: %q, want replayed", cause)
	}
}

func hashed(nonce string) nonceHash {
	sum := sha256.Sum256([]byte(nonce))
	return nonceHash(sum[:16])
}

// After a restart within the same second, a signature cannot be used twice. A fresh one is
// accepted, whatever the signer's clock shows.
func TestUsedNoncesOutliveARestart(t *testing.T) {
	dir, at := t.TempDir(), time.Now()
	for restart := range 3 {
		n := newNonces(dir, false)
		for used := range restart {
			for _, signed := range []int64{at.Unix(), at.Unix() + 300} {
				if cause, err := n.use(access.Holder{}, hashed(strconv.Itoa(used)), signed, at); cause != access.CauseReplayed || err != nil {
					t.Errorf("start %d: used before: %q, %v; want replayed", restart, cause, err)
				}
			}
		}
		if cause, err := n.use(access.Holder{}, hashed(strconv.Itoa(restart)), at.Unix(), at); cause != "" || err != nil {
			t.Errorf("start %d: a fresh signature: %q, %v; want it good", restart, cause, err)
		}
	}
	late := newNonces(dir, false)
	if cause, err := late.use(access.Holder{}, hashed("0"), at.Unix(), at.Add(nonceLife)); cause != access.CauseReplayed || err != nil {
		t.Errorf("a slot later: %q, %v; want replayed", cause, err)
	}
}

func TestFilesOfOldNoncesAreRemoved(t *testing.T) {
	dir, at := t.TempDir(), time.Now()
	n := newNonces(dir, false)
	for i := range 5 {
		if cause, err := n.use(access.Holder{}, hashed(strconv.Itoa(i)), at.Unix(), at); cause != "" || err != nil {
			t.Fatal(cause, err)
		}
		at = at.Add(nonceLife)
	}
	left, err := filepath.Glob(filepath.Join(dir, "nonces", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v; want this slot's and the last", left, err)
	}
}

// A process killed during a write leaves part of a hash. The hashes after it are still read.
func TestHalfANonceHidesNoOther(t *testing.T) {
	dir, at := t.TempDir(), time.Now()
	file := filepath.Join(dir, "nonces", strconv.FormatInt(slotOf(at), 10))
	first := newNonces(dir, false)
	if cause, err := first.use(access.Holder{}, hashed("a"), at.Unix(), at); cause != "" || err != nil {
		t.Fatal(cause, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(whole, "half"...), 0o600); err != nil {
		t.Fatal(err)
	}
	second := newNonces(dir, false)
	if cause, err := second.use(access.Holder{}, hashed("b"), at.Unix(), at); cause != "" || err != nil {
		t.Fatal(cause, err)
	}
	third := newNonces(dir, false)
	for _, used := range []string{"a", "b"} {
		if cause, err := third.use(access.Holder{}, hashed(used), at.Unix(), at); cause != access.CauseReplayed || err != nil {
			t.Errorf("%s: %q, %v; want replayed", used, cause, err)
		}
	}
}

// Processes that share a state directory do not lose each other's nonces.
func TestProcessesAppendToTheSameNonces(t *testing.T) {
	dir, at := t.TempDir(), time.Now()
	const each = 200
	var both sync.WaitGroup
	for _, process := range []string{"a", "b"} {
		n := newNonces(dir, false)
		both.Go(func() {
			for i := range each {
				if cause, err := n.use(access.Holder{}, hashed(process+strconv.Itoa(i)), at.Unix(), at); cause != "" || err != nil {
					t.Error(cause, err)
				}
			}
		})
	}
	both.Wait()
	after := newNonces(dir, false)
	for _, process := range []string{"a", "b"} {
		for i := range each {
			if cause, _ := after.use(access.Holder{}, hashed(process+strconv.Itoa(i)), at.Unix(), at); cause != access.CauseReplayed {
				t.Fatalf("%s%d: %q, want replayed", process, i, cause)
			}
		}
	}
}

// Without a writable folder, a restart forgets nonces. Signatures from before are refused, and the
// reason is logged.
func TestNoncesThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n, at := newNonces(file, false), time.Now().Add(time.Second)
	if cause, err := n.use(access.Holder{}, hashed("old"), n.started, at); cause != access.CauseExpired || err == nil {
		t.Errorf("of the second of the start: %q, %v; want expired, and the reason", cause, err)
	}
	if cause, err := n.use(access.Holder{}, hashed("new"), n.started+1, at); cause != "" || err != nil {
		t.Errorf("made since: %q, %v; want it good", cause, err)
	}
}
