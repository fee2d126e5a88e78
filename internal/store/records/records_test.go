package records_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/clock"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

type store interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

func each(t *testing.T, maxBytes int64, test func(t *testing.T, s store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, &records.Memory{MaxBytes: maxBytes}) })
	t.Run("file", func(t *testing.T) { test(t, openFile(t, t.TempDir(), maxBytes, 0)) })
}

// eachShared runs the test for all stores, including those limited elsewhere too.
func eachShared(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	each(t, 1<<20, test)
	t.Run("redis", func(t *testing.T) { test(t, openRedis(t, redistest.Start(t))) })
}

func openRedis(t *testing.T, server *redistest.Server) *records.Redis {
	t.Helper()
	r, _ := openRedisOn(t, server)
	return r
}

func openRedisOn(t *testing.T, server *redistest.Server) (*records.Redis, *redisdb.DB) {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return records.NewRedis(records.RedisOptions{DB: db, TTL: time.Hour}), db
}

func openFile(t *testing.T, dir string, maxBytes int64, ttl time.Duration) *records.File {
	t.Helper()
	f, err := records.OpenFile(records.FileOptions{Dir: dir, MaxBytes: maxBytes, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, s store, key, value string) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(value)); err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
}

func want(t *testing.T, s store, key, value string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); !ok || err != nil || string(got) != value {
		t.Errorf("Get(%q) = %q, %v, %v, want %q", key, got, ok, err, value)
	}
}

func wantNone(t *testing.T, s store, key string) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), key); ok || err != nil {
		t.Errorf("Get(%q) = %q, %v, want none", key, got, err)
	}
}

func TestKeepsTheLastValueOfEachKey(t *testing.T) {
	eachShared(t, func(t *testing.T, s store) {
		t.Helper()
		wantNone(t, s, "a")
		put(t, s, "a", "one")
		put(t, s, "b/../\x00é", "two")
		put(t, s, "a", "three")
		put(t, s, "", "")
		want(t, s, "a", "three")
		want(t, s, "b/../\x00é", "two")
		want(t, s, "", "")
		wantNone(t, s, "b")
	})
}

func TestPutCopiesItsValue(t *testing.T) {
	eachShared(t, func(t *testing.T, s store) {
		t.Helper()
		v := []byte("value")
		if err := s.Put(t.Context(), "a", v); err != nil {
			t.Fatal(err)
		}
		v[0] = 'X'
		want(t, s, "a", "value")
	})
}

func TestStaysWithinItsBoundByForgettingTheLeastUsed(t *testing.T) {
	each(t, 1<<20, func(t *testing.T, s store) {
		t.Helper()
		value := strings.Repeat("x", 3000)
		for i := range 600 {
			put(t, s, fmt.Sprint("k", i), value)
		}
		want(t, s, "k599", value)
		kept := 0
		for i := range 600 {
			if _, ok, _ := s.Get(t.Context(), fmt.Sprint("k", i)); ok {
				kept++
			}
		}
		if kept > 1<<20/3000 || kept < 100 {
			t.Errorf("%d of 600 values kept in 1 MiB", kept)
		}
		if err := s.Put(t.Context(), "huge", bytes.Repeat([]byte("x"), 2<<20)); !errors.Is(err, records.ErrTooLarge) {
			t.Errorf("Put of more than everything: %v, want ErrTooLarge", err)
		}
	})
}

func TestMemoryForgetsWhatWasNotUsedForLongest(t *testing.T) {
	m := &records.Memory{MaxBytes: 1000}
	put(t, m, "a", "1")
	put(t, m, "b", "2")
	want(t, m, "a", "1")
	for i := range 5 {
		put(t, m, fmt.Sprint(i), "x")
		want(t, m, "a", "1")
	}
	wantNone(t, m, "b")
}

func TestMemoryForgetsAfterTTLAndUseRenewsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &records.Memory{TTL: time.Hour}
		put(t, m, "used", "1")
		put(t, m, "unused", "2")
		time.Sleep(40 * time.Minute)
		want(t, m, "used", "1")
		time.Sleep(40 * time.Minute)
		want(t, m, "used", "1")
		wantNone(t, m, "unused")
		time.Sleep(time.Hour)
		put(t, m, "new", "3")
		if n := m.Len(); n != 1 {
			t.Errorf("%d values kept after all but one expired", n)
		}
	})
}

func TestFileOutlivesItsProcessAndIsShared(t *testing.T) {
	dir := t.TempDir()
	a, b := openFile(t, dir, 0, 0), openFile(t, dir, 0, 0)
	put(t, a, "k", "from a")
	want(t, b, "k", "from a")
	put(t, b, "k", "from b")
	want(t, a, "k", "from b")
	want(t, openFile(t, dir, 0, 0), "k", "from b")
}

func TestFileForgetsAfterTTLAndUseRenewsIt(t *testing.T) {
	dir := t.TempDir()
	f := openFile(t, dir, 0, time.Hour)
	put(t, f, "k", "v")
	age := func(by time.Duration) {
		for _, path := range files(t, dir) {
			when := time.Now().Add(-by)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		}
	}
	age(59 * time.Minute)
	want(t, f, "k", "v")
	if info, _ := os.Stat(files(t, dir)[0]); time.Since(info.ModTime()) > time.Minute {
		t.Error("Get did not renew the file")
	}
	age(61 * time.Minute)
	wantNone(t, f, "k")
}

// After a step of the system clock, values still live as long as they should, whether put before or
// after.
func TestFileForgetsNothingWhenTheClockSteps(t *testing.T) {
	for _, step := range []time.Duration{72 * time.Hour, -72 * time.Hour} {
		var by time.Duration
		f, err := records.OpenFile(records.FileOptions{Dir: t.TempDir(), TTL: time.Hour, Clock: &clock.Clock{Wall: func() time.Time { return time.Now().Add(by) }}})
		if err != nil {
			t.Fatal(err)
		}
		put(t, f, "k", "v")
		if err := f.Keep(t.Context(), "kept", []byte("v")); err != nil {
			t.Fatal(err)
		}
		by = step
		want(t, f, "k", "v")
		if _, ok, err := f.Kept(t.Context(), "kept"); err != nil || !ok {
			t.Errorf("what was kept: %t, %v", ok, err)
		}
		put(t, f, "later", "v")
		want(t, f, "later", "v")
	}
}

func TestFileTakesADamagedFileForNone(t *testing.T) {
	dir := t.TempDir()
	f := openFile(t, dir, 0, 0)
	put(t, f, "k", "some value")
	path := files(t, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		wantNone(t, f, "k")
		bad := bytes.Clone(whole)
		bad[n] ^= 4
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		wantNone(t, f, "k")
	}
	put(t, f, "k", "again")
	want(t, f, "k", "again")
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	f := openFile(t, dir, 0, 0)
	put(t, f, "k", "v")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFileSurvivesItsDirectoryBeingRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	f := openFile(t, dir, 0, 0)
	put(t, f, "k", "v")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantNone(t, f, "k")
	put(t, f, "k", "v")
	want(t, f, "k", "v")
}

func TestOpenFileFailsOnWhatIsNoDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{path, "relative"} {
		if _, err := records.OpenFile(records.FileOptions{Dir: dir}); err == nil {
			t.Errorf("OpenFile(%q) succeeded", dir)
		}
	}
}

func TestManyWritersOfOneKeyLeaveOneWholeValue(t *testing.T) {
	each(t, 1<<20, func(t *testing.T, s store) {
		t.Helper()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for range 20 {
					_ = s.Put(t.Context(), "k", bytes.Repeat([]byte{byte('a' + i)}, 1000+i))
					if got, ok, _ := s.Get(t.Context(), "k"); !ok || len(got) != 1000+int(got[0]-'a') {
						t.Errorf("Get = %d bytes, %v", len(got), ok)
					}
				}
			})
		}
		all.Wait()
	})
}

func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
