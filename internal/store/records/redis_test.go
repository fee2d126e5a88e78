package records_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/store/records"
	"secateur/internal/store/redisdb/redistest"
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

// While the engine is unreachable, a replica uses its local copies and writes nothing that others
// would not see. It cannot know that a value is missing: another replica may have put one.
func TestRedisAwayKnowsWhatItSaid(t *testing.T) {
	server := redistest.Start(t)
	r, db := openRedisOn(t, server)
	put(t, r, "said", "1")
	wantNone(t, r, "none")
	wantNone(t, r, "another's")
	put(t, openRedis(t, server), "another's", "3")
	server.Kill()
	want(t, r, "said", "1")
	wantUnknown(t, r, "never said")
	if err := r.Put(t.Context(), "new", []byte("2")); err == nil {
		t.Error("a value was put that is nowhere")
	}
	wantUnknown(t, r, "new")
	wantUnknown(t, r, "none")
	wantUnknown(t, r, "another's")
	server.Run()
	server.Await(db)
	wantNone(t, r, "said") // the engine restarted empty, and it decides
	put(t, r, "new", "2")
}

// Many values at once give the same result as one by one, whether the engine answers or not.
func TestRedisManyAtOnce(t *testing.T) {
	server := redistest.Start(t)
	a, b := openRedis(t, server), openRedis(t, server)
	put(t, b, "taken", "by b")
	writes := []struct {
		key, value string
		onlyNew    bool
	}{{"one", "1", false}, {"taken", "by a", true}, {"huge", strings.Repeat("x", 9<<20), false}, {"two", "2", true}}
	putEach := func() []error {
		return a.PutEach(t.Context(), len(writes), func(i int) (string, []byte, bool) {
			return writes[i].key, []byte(writes[i].value), writes[i].onlyNew
		})
	}
	if errs := putEach(); errs[0] != nil || !errors.Is(errs[1], fs.ErrExist) || !errors.Is(errs[2], records.ErrTooLarge) || errs[3] != nil {
		t.Errorf("PutEach = %v, want the huge one refused, and what was taken told", errs)
	}
	getEach := func(r *records.Redis, want ...string) {
		t.Helper()
		keys := []string{"one", "none", "taken", "two"}
		r.GetEach(t.Context(), keys, func(i int, value []byte, ok bool, err error) {
			got := string(value)
			if err != nil {
				got = "unknown"
			} else if !ok {
				got = "none"
			}
			if got != want[i] {
				t.Errorf("GetEach: %q = %s, want %s", keys[i], got, want[i])
			}
		})
	}
	getEach(b, "1", "none", "by b", "2")
	server.Kill()
	getEach(a, "1", "unknown", "unknown", "2") // it never learned what the others had written
	getEach(b, "1", "unknown", "by b", "2")
	for i, err := range putEach() {
		if err == nil {
			t.Errorf("PutEach without an engine: %q was kept", writes[i].key)
		}
	}
}

func TestRedisBoundsAValue(t *testing.T) {
	r := openRedis(t, redistest.Start(t))
	if err := r.Put(t.Context(), "huge", bytes.Repeat([]byte("x"), 9<<20)); !errors.Is(err, records.ErrTooLarge) {
		t.Errorf("Put of nine megabytes: %v, want ErrTooLarge", err)
	}
}

// wantUnknown checks for an unknown value, which is not the same as a missing one.
func wantUnknown(t *testing.T, s store, key string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); ok || err == nil {
		t.Errorf("Get(%q) = %q, %v, %v, want an error", key, got, ok, err)
	}
}

// A tenant that fills its quota gets its values refused until some expire. Other tenants are
// unaffected, and stored values stay.
func TestRedisBoundsTheRoomOfATenant(t *testing.T) {
	server := redistest.Start(t)
	_, db := openRedisOn(t, server)
	const room = 100 << 10
	r := records.NewRedis(records.RedisOptions{DB: db, TTL: time.Hour, Room: room, Tenant: func(key string) string { return key[:1] }})
	put(t, r, "a first", "1")
	var err error
	n := 0
	for ; n < 10_000 && err == nil; n++ { // tiny values: their overhead counts
		err = r.Put(t.Context(), fmt.Sprint("a ", n), []byte("x"))
	}
	if !errors.Is(err, records.ErrFull) || n < 100 || n > 300 {
		t.Fatalf("after %d values in %d bytes of room: %v, want ErrFull", n, room, err)
	}
	if first, err := r.PutNew(t.Context(), "a new", []byte("x")); first || !errors.Is(err, records.ErrFull) {
		t.Errorf("PutNew: %v, %v, want ErrFull", first, err)
	}
	put(t, r, "b", "of another tenant")
	want(t, r, "b", "of another tenant")
	want(t, r, "a first", "1")
	server.Client().ScriptFlush(t.Context()) // as a restart does
	server.Advance(61 * time.Minute)
	put(t, r, "a later", "2")
	want(t, r, "a later", "2")
}
