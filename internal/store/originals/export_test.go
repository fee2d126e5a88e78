package originals

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"sync"
	"testing"
	"time"

	"secateur/internal/store/redisdb"
)

// HoldLock shares the directory's lock, as a process that is about to renew or write does.
func HoldLock(t *testing.T, f *File) (release func()) { t.Helper(); return holdLock(t, f, lockShared) }

// HoldLockAlone has the directory's lock alone, as a process that is about to remove does.
func HoldLockAlone(t *testing.T, f *File) (release func()) {
	t.Helper()
	return holdLock(t, f, lockAlone)
}

func holdLock(t *testing.T, f *File, mode lockMode) func() {
	t.Helper()
	unlock, err := f.lock(t.Context(), mode)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

// Scan looks through the directory now.
func Scan(ctx context.Context, f *File) { f.scan(ctx) }

// Settle waits for what is under way.
func Settle(f *File) { f.tasks.Wait() }

// Path is where the file of an original is.
func Path(f *File, id string) string { return f.path(id) }

// Encode makes the content of a file.
func Encode(tenant, text string) []byte {
	return testCodec().encode(nil, tenant, text, time.Unix(2e9, 0))
}

// EncodeVersion makes the content of a file as another version would.
func EncodeVersion(tenant, text string, version byte) []byte {
	b := Encode(tenant, text)
	b[4] = version
	binary.BigEndian.PutUint32(b[36:], crc32.Checksum(b[:36], castagnoli))
	return b
}

// Decode reads the content of a file.
func Decode(file []byte, tenant, id string) (string, error) {
	return testCodec().decode(file, tenant, id)
}

var testCodec = sync.OnceValue(func() codec {
	c, err := newCodec()
	if err != nil {
		panic(err)
	}
	return c
})

// DBOf is the engine that a store is in.
func DBOf(r *Redis) *redisdb.DB { return r.opt.DB }

// SetLockPatience says how long to wait for another who holds the lock.
func SetLockPatience(f *File, d time.Duration) { f.patience = d }
