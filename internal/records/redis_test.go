package records_test

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/records"
	"secateur/internal/redisdb/redistest"
)

func TestRedisReplicasSeeTheLastValue(t *testing.T) {
	server := redistest.Start(t)
	a, b := openRedis(t, server), openRedis(t, server)
	put(t, a, "k", "from a")
	want(t, b, "k", "from a")
	put(t, b, "k", "from b")
	want(t, a, "k", "from b")
}

func TestRedisOneReplicaIsTheFirst(t *testing.T) {
	server := redistest.Start(t)
	var firsts atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		r := openRedis(t, server)
		all.Go(func() {
			if first, err := r.PutNew(t.Context(), "k", []byte("v")); err != nil {
				t.Error(err)
			} else if first {
				firsts.Add(1)
			}
		})
	}
	if all.Wait(); firsts.Load() != 1 {
		t.Errorf("%d were the first", firsts.Load())
	}
}

func TestRedisForgetsAfterTTLAndUseRenewsIt(t *testing.T) {
	server := redistest.Start(t)
	r := openRedis(t, server)
	put(t, r, "used", "1")
	put(t, r, "unused", "2")
	server.Advance(40 * time.Minute)
	want(t, r, "used", "1")
	server.Advance(40 * time.Minute)
	want(t, r, "used", "1")
	wantNone(t, r, "unused")
}

// A replica goes on with what it knows while the engine is away, and writes nothing that others would not see.
func TestRedisAwayKnowsWhatItSaid(t *testing.T) {
	server := redistest.Start(t)
	r, db := openRedisOn(t, server)
	put(t, r, "said", "1")
	wantNone(t, r, "none")
	server.Kill()
	want(t, r, "said", "1")
	wantUnknown(t, r, "never said")
	if err := r.Put(t.Context(), "new", []byte("2")); err == nil {
		t.Error("a value was put that is nowhere")
	}
	wantUnknown(t, r, "new")
	wantNone(t, r, "none") // so the engine has said
	server.Run()
	server.Await(db)
	wantNone(t, r, "said") // it came back empty, and its word counts
	put(t, r, "new", "2")
}

func TestRedisBoundsAValue(t *testing.T) {
	r := openRedis(t, redistest.Start(t))
	if err := r.Put(t.Context(), "huge", bytes.Repeat([]byte("x"), 9<<20)); !errors.Is(err, records.ErrTooLarge) {
		t.Errorf("Put of nine megabytes: %v, want ErrTooLarge", err)
	}
}

// wantUnknown is for what nobody can tell: it is not the same as none.
func wantUnknown(t *testing.T, s store, key string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); ok || err == nil {
		t.Errorf("Get(%q) = %q, %v, %v, want an error", key, got, ok, err)
	}
}
