package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// DefaultMaxKept is the default quota for Keep.
const DefaultMaxKept = 256 << 20

// ErrFull means that nothing more can be kept, for a tenant or at all, until something expires.
var ErrFull = errors.New("the store of records is full")

// Keep stores a value that must not be lost before it expires. It is synced to disk when Keep
// returns, and never evicted. Keep fails if there is no room.
func (f *File) Keep(_ context.Context, key string, value []byte) error {
	k := f.kept
	name := nameOf(key)
	content := seal(key, value)
	size := onDisk(int64(len(content)))
	if size > k.maxBytes {
		return ErrTooLarge
	}
	if err := k.reserve(name, size); err != nil {
		return fmt.Errorf("keep record: %w", err)
	}
	if err := k.write(name, content, syncedRename); err != nil {
		return fmt.Errorf("keep record: %w", err)
	}
	return nil
}

// Kept returns a value stored by Keep, or else by Put.
func (f *File) Kept(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if value, ok, err = f.kept.Get(ctx, key); ok || err != nil {
		return value, ok, err
	}
	return f.Get(ctx, key)
}

// reserve accounts for a file about to be written, and fails if there is no room.
func (f *File) reserve(name string, size int64) error {
	s := &f.shards[shardOf(name)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+size > f.maxBytes || time.Since(s.looked) >= lookEvery {
		bytes, err := f.look(name[:1])
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		s.bytes, s.looked = bytes, time.Now()
	}
	if s.bytes+size > f.maxBytes {
		return ErrFull
	}
	s.bytes += size
	return nil
}

// syncedRename renames a file after syncing its content, and syncs the new name too.
func syncedRename(temp, path string) error {
	for _, step := range []func() error{
		func() error { return syncFile(temp) },
		func() error { return os.Rename(temp, path) },
		func() error { return syncFolder(filepath.Dir(path)) },
		// the folder may be new
		func() error { return syncFolder(filepath.Dir(filepath.Dir(path))) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
