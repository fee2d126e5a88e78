package originals_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
	"secateur/internal/store/redisdb/redistest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(*testing.T) originals.Store {
		return &originals.Memory{MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL}
	})
}

func TestFileKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(t *testing.T) originals.Store {
		t.Helper()
		return openFile(t, t.TempDir())
	})
}

func TestTimedKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(t *testing.T) originals.Store {
		t.Helper()
		return originals.WithPutTimeout(openFile(t, t.TempDir()), time.Minute)
	})
}

// openFile opens a store for the suite, and closes it when the test ends.
func openFile(t *testing.T, dir string) *originals.File {
	t.Helper()
	f, err := originals.OpenFile(originals.FileOptions{
		Dir: dir, MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}

func TestTenantsShareTheRoom(t *testing.T) {
	shared := func() bool { return true }
	t.Run("memory", func(t *testing.T) {
		originalstest.RunShared(t, func(_ *testing.T, oldest bool) originals.Store {
			return &originals.Memory{MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL, DropOldest: oldest, Shared: shared}
		})
	})
	t.Run("file", func(t *testing.T) {
		originalstest.RunShared(t, func(t *testing.T, oldest bool) originals.Store {
			t.Helper()
			return open(t, originals.FileOptions{
				Dir: t.TempDir(), MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL, DropOldest: oldest, Shared: shared,
			})
		})
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		originalstest.RunShared(t, func(t *testing.T, oldest bool) originals.Store {
			t.Helper()
			if err := server.Client().FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			return openRedis(t, server, originals.RedisOptions{DropOldest: oldest})
		})
	})
}

// A reopened directory knows which tenant filled it, even if tenants come only later.
func TestSharesOutliveTheProcess(t *testing.T) {
	for _, later := range []bool{false, true} {
		t.Run(fmt.Sprint("later ", later), func(t *testing.T) {
			isShared := !later
			dir := t.TempDir()
			at := func(share func() bool) *originals.File {
				return open(t, originals.FileOptions{Dir: dir, MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL, Shared: share})
			}
			first := at(func() bool { return true })
			for i := uint64(0); ; i++ {
				if _, err := first.Put(t.Context(), "greedy", originalstest.Noise(i, 1<<20)); err != nil {
					break
				}
			}
			_ = first.Close()
			next := at(func() bool { return isShared })
			isShared = true
			if _, err := next.Put(t.Context(), "modest", originalstest.Noise(1, 1<<20)); err != nil {
				t.Errorf("the second tenant: %v", err)
			}
			originals.Settle(next)
			if _, err := next.Put(t.Context(), "greedy", originalstest.Noise(1000, 1<<20)); !errors.Is(err, originals.ErrFull) {
				t.Errorf("who has more than is left: %v, want ErrFull", err)
			}
		})
	}
}
