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

// HoldLock takes the shared lock, like a process about to renew or write.
func HoldLock(t *testing.T, f *File) (release func()) { t.Helper(); return holdLock(t, f, lockShared) }

// HoldLockAlone takes the exclusive lock, like a process about to remove.
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

// Scan scans the directory now.
func Scan(ctx context.Context, f *File) { f.scan(ctx) }

// Settle waits for running calls.
func Settle(f *File) { f.tasks.Wait() }

// Path returns the path of an original's file.
func Path(f *File, id string) string { return f.path(id) }

// Encode returns the content of a file.
func Encode(tenant, text string) []byte {
	return testCodec().encode(nil, tenant, text, time.Unix(2e9, 0))
}

// EncodeVersion returns the content of a file of another version.
func EncodeVersion(tenant, text string, version byte) []byte {
	b := Encode(tenant, text)
	b[4] = version
	binary.BigEndian.PutUint32(b[36:], crc32.Checksum(b[:36], castagnoli))
	return b
}

// Decode decodes the content of a file.
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

// DBOf returns a store's engine.
func DBOf(r *Redis) *redisdb.DB { return r.opt.DB }

// SetLockPatience sets the timeout of the lock.
func SetLockPatience(f *File, d time.Duration) { f.patience = d }
