package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// DefaultMaxKept is the room for what Keep keeps where nothing else is said.
const DefaultMaxKept = 256 << 20

// ErrFull means that nothing more can be kept, of a tenant or at all, before something has come to the end of its time.
var ErrFull = errors.New("the store of records is full")

// Keep keeps a value that must not be lost before its time: it is on the disk when Keep returns, and nothing makes
// room for others. Where there is no more room it fails.
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

// Kept returns a value of Keep's, or one that was put.
func (f *File) Kept(ctx context.Context, key string) (value []byte, ok bool, err error) {
	if value, ok, err = f.kept.Get(ctx, key); ok || err != nil {
		return value, ok, err
	}
	return f.Get(ctx, key)
}

// reserve counts a file that is about to be written, and fails where there is no room for it.
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

// syncedRename moves a file when its bytes are on the disk, and returns when its name is, too.
func syncedRename(temp, path string) error {
	for _, step := range []func() error{
		func() error { return syncFile(temp) },
		func() error { return os.Rename(temp, path) },
		func() error { return syncFolder(filepath.Dir(path)) },
		func() error { return syncFolder(filepath.Dir(filepath.Dir(path))) }, // the folder may be new
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
