package originals_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

func TestRedisKeepsTheContract(t *testing.T) {
	server := redistest.Start(t)
	originalstest.RunOutside(t, func(t *testing.T) (originals.Store, func(time.Duration)) {
		t.Helper()
		if err := server.Client().FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return openRedis(t, server, originals.RedisOptions{}), server.Advance
	})
}

func TestRedisReplicasShareWhatIsKept(t *testing.T) {
	server := redistest.Start(t)
	a, b := openRedis(t, server, originals.RedisOptions{}), openRedis(t, server, originals.RedisOptions{})
	text := originalstest.Noise(1, 100_000)
	id := keep(t, a, text)
	if got, err := b.Get(t.Context(), "", id); err != nil || got != text {
		t.Errorf("Get by another replica = %d bytes, %v", len(got), err)
	}
	keep(t, b, text)
	if s := b.Stats(); s.Count != 1 || s.Bytes < 100_000 {
		t.Errorf("Stats of the other = %+v, want the one original", s)
	}
}

func TestRedisDropsWhatWasNotUsedForLongest(t *testing.T) {
	server := redistest.Start(t)
	s := openRedis(t, server, originals.RedisOptions{DropOldest: true, MaxBytes: 1 << 20})
	var ids []string
	for i := range uint64(12) {
		ids = append(ids, keep(t, s, originalstest.Noise(i, 100_000)))
		server.Advance(time.Second)
		if _, err := s.Get(t.Context(), "", ids[0]); err != nil {
			t.Fatalf("the one that is used went with number %d: %v", i, err)
		}
	}
	for i, want := range map[int]bool{0: true, 1: false, 11: true} {
		if _, err := s.Get(t.Context(), "", ids[i]); (err == nil) != want {
			t.Errorf("original %d: %v, want kept %v", i, err, want)
		}
	}
	if stats := s.Stats(); stats.Dropped < 2 || stats.Bytes > 1<<20 {
		t.Errorf("Stats = %+v", stats)
	}
	if n := server.Client().DBSize(t.Context()).Val(); n > 11+4 {
		t.Errorf("%d keys: what was dropped is still there", n)
	}
}

// An engine that evicts or was flushed has lost originals that are still counted.
func TestRedisPutsAgainWhatTheEngineLost(t *testing.T) {
	server := redistest.Start(t)
	s := openRedis(t, server, originals.RedisOptions{})
	id := keep(t, s, "text")
	keys := server.Client().Keys(t.Context(), "secateur:v1:o:*").Val()
	if len(keys) != 1 || server.Client().Del(t.Context(), keys[0]).Val() != 1 {
		t.Fatalf("values in the engine: %q", keys)
	}
	if _, err := s.Get(t.Context(), "", id); !errors.Is(err, originals.ErrNotFound) {
		t.Errorf("Get of what was evicted: %v, want ErrNotFound", err)
	}
	keep(t, s, "text")
	if got, err := s.Get(t.Context(), "", id); err != nil || got != "text" {
		t.Errorf("Get after it was put again = %q, %v", got, err)
	}
}

func TestRedisTellsADamagedOriginal(t *testing.T) {
	server := redistest.Start(t)
	s := openRedis(t, server, originals.RedisOptions{})
	id := keep(t, s, strings.Repeat("a line\n", 1000))
	key := server.Client().Keys(t.Context(), "secateur:v1:o:*").Val()[0]
	if err := server.Client().SetRange(t.Context(), key, 50, "XX").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "", id); !errors.Is(err, originals.ErrDamaged) {
		t.Errorf("Get: %v, want ErrDamaged", err)
	}
	if n := s.Stats().Corrupt; n != 1 {
		t.Errorf("%d told as damaged", n)
	}
}

func TestRedisAwayNothingIsKeptAndWhatIsNearIsFound(t *testing.T) {
	server := redistest.Start(t)
	s := openRedis(t, server, originals.RedisOptions{NearBytes: 1 << 20})
	near, far := keep(t, s, "near"), keep(t, s, "far")
	if _, err := s.Get(t.Context(), "", near); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := s.Put(t.Context(), "", "another"); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put without an engine: %v, want ErrUnavailable", err)
	}
	if got, err := s.Get(t.Context(), "", near); err != nil || got != "near" {
		t.Errorf("Get of what is near = %q, %v", got, err)
	}
	if _, err := s.Get(t.Context(), "", far); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Get of what is not: %v, want ErrUnavailable", err)
	}
	server.Run()
	server.Await(originals.DBOf(s))
	if _, err := s.Put(t.Context(), "", "another"); err != nil {
		t.Errorf("Put once it is back: %v", err)
	}
}

func TestRedisThatIsFullRefuses(t *testing.T) {
	server := redistest.Start(t, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
	s := openRedis(t, server, originals.RedisOptions{})
	for i := uint64(0); ; i++ {
		if _, err := s.Put(t.Context(), "", originalstest.Noise(i, 1<<20)); err != nil {
			if !errors.Is(err, originals.ErrUnavailable) {
				t.Errorf("Put into a full engine: %v, want ErrUnavailable", err)
			}
			if i == 0 {
				t.Error("nothing was kept")
			}
			break
		}
	}
	counted := server.Client().ZCard(t.Context(), server.Client().Keys(t.Context(), "*:moments").Val()[0]).Val()
	values := len(server.Client().Keys(t.Context(), "secateur:v1:o:*").Val())
	if int(counted) != values {
		t.Errorf("%d originals are counted, %d are there", counted, values)
	}
}

// A text that was written, but then found no room, belongs to no tenant's count. It stays until it
// expires, since another replica may be reserving it. Few such texts exist, and a Put that reserves
// one writes it again.
func TestRedisTextsWithoutRoomAreFewAndNobodys(t *testing.T) {
	server := redistest.Start(t)
	fills := openRedis(t, server, originals.RedisOptions{MaxBytes: 1 << 20})
	kept := 0
	for _, err := fills.Put(t.Context(), "", originalstest.Noise(0, 100_000)); err == nil; kept++ {
		_, err = fills.Put(t.Context(), "", originalstest.Noise(uint64(kept)+1, 100_000))
	}
	late := openRedis(t, server, originals.RedisOptions{MaxBytes: 1 << 20})
	for i := range uint64(20) {
		if _, err := late.Put(t.Context(), "", originalstest.Noise(1000+i, 100_000)); !errors.Is(err, originals.ErrFull) {
			t.Fatalf("Put number %d into a full store: %v, want ErrFull", i, err)
		}
	}
	values := server.Client().Keys(t.Context(), "secateur:v1:o:*").Val()
	if len(values) != kept+1 {
		t.Fatalf("%d values, want the %d that are counted and the first that found no room", len(values), kept)
	}
	for _, key := range values {
		if err := server.Client().SetRange(t.Context(), key, 50, "XX").Err(); err != nil {
			t.Fatal(err)
		}
	}
	drops := openRedis(t, server, originals.RedisOptions{MaxBytes: 1 << 20, DropOldest: true})
	text := originalstest.Noise(1000, 100_000)
	if got, err := drops.Get(t.Context(), "", keep(t, drops, text)); err != nil || got != text {
		t.Errorf("Get of a text that was there, damaged and counted by nobody, when it was put: %d bytes, %v", len(got), err)
	}
}

func openRedis(t *testing.T, server *redistest.Server, o originals.RedisOptions) *originals.Redis {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	o.DB = db
	if o.MaxBytes == 0 {
		o.MaxBytes = originalstest.MaxBytes
	}
	o.TTL = originalstest.TTL
	store, err := originals.OpenRedis(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// Invalid ids are not looked up in the engine.
func TestRedisIsNotAskedForWhatIsNoID(t *testing.T) {
	server := redistest.Start(t)
	s := openRedis(t, server, originals.RedisOptions{})
	server.Kill()
	for _, wrong := range []string{"", "prn_1", "}:x{", strings.Repeat("A", 30)} {
		if _, err := s.Get(t.Context(), "", wrong); !errors.Is(err, originals.ErrNotFound) {
			t.Errorf("Get(%q): %v, want ErrNotFound", wrong, err)
		}
	}
}
