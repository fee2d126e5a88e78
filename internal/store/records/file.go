package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"secateur/internal/store/atomicfile"
	"secateur/internal/store/clock"
)

// Modes of everything we create: the values come from conversations.
const (
	dirMode    = 0o700
	tempPrefix = ".put-" // prefix of a file being written; renamed when complete
)

// FileOptions configure a File.
type FileOptions struct {
	Dir      string        // absolute path; created if missing
	MaxBytes int64         // disk quota; 0: DefaultMaxBytes
	MaxKept  int64         // separate disk quota for Keep; 0: DefaultMaxKept
	TTL      time.Duration // life after the last use; 0: DefaultTTL
	Log      *slog.Logger  // nil discards
	Clock    *clock.Clock  // nil: a new one
}

// File stores one file per value, in a directory that several processes may share. A file is
// written aside and renamed, so it is complete or missing; a damaged one counts as missing. Only
// values of Keep are synced to disk. The file's mtime is the time of its last use.
type File struct {
	dir      string
	maxBytes int64 // per shard
	kept     *File // values of Keep; nil in that store itself, which never evicts
	ttl      time.Duration
	log      *slog.Logger
	clock    *clock.Clock
	shards   [shardCount]shard
}

// Values are spread over folders, each with its share of the quota. So an eviction scans only one
// folder.
const shardCount = 16

// renewEvery is the maximum error of a value's last use, which decides about eviction.
const renewEvery = time.Hour

// shard is the usage of a folder: counted by a scan, then updated by this process's own writes.
type shard struct {
	mu     sync.Mutex // guards the fields below, and allows one scan at a time
	bytes  int64
	looked time.Time
}

// errNotOurs means that a record's path holds something else.
var errNotOurs = errors.New("not a record's file")

// OpenFile opens a directory of values, and creates it if missing.
func OpenFile(o FileOptions) (*File, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = &clock.Clock{}
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("open records: directory %q is not absolute", o.Dir)
	}
	if err := os.MkdirAll(o.Dir, dirMode); err != nil {
		return nil, fmt.Errorf("open records: %w", err)
	}
	probe, err := os.CreateTemp(o.Dir, tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("open records: %w", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("open records: %w", err)
	}
	if o.MaxKept <= 0 {
		o.MaxKept = DefaultMaxKept
	}
	share := func(bytes int64) int64 { return max(bytes/shardCount, blockSize) }
	return &File{
		dir: o.Dir, maxBytes: share(o.MaxBytes), ttl: o.TTL, log: o.Log, clock: o.Clock,
		kept: &File{dir: filepath.Join(o.Dir, keptFolder), maxBytes: share(o.MaxKept), ttl: o.TTL, log: o.Log, clock: o.Clock},
	}, nil
}

// keptFolder is the folder for values of Keep, besides those of the shards.
const keptFolder = "kept"

// Get returns the value. An error means that a file exists but cannot be read.
func (f *File) Get(ctx context.Context, key string) ([]byte, bool, error) {
	name := nameOf(key)
	path := f.path(name)
	content, used, err := f.read(path)
	if err != nil {
		if info, there := os.Lstat(path); there != nil || !info.Mode().IsRegular() || errors.Is(err, errNotOurs) {
			return nil, false, nil //nolint:nilerr // no record: the path holds something else
		}
		return nil, false, fmt.Errorf("read record: %w", err)
	}
	value, ok := open(content, key)
	if !ok {
		return nil, false, nil // the next Put overwrites it
	}
	idle := f.clock.Earliest().Sub(used)
	if idle >= f.ttl {
		return nil, false, nil // the next scan removes it
	}
	if idle > min(f.ttl/16, renewEvery) {
		now := f.clock.Latest()
		if err := os.Chtimes(path, now, now); err != nil {
			f.log.DebugContext(ctx, "record read but not renewed", "err", err)
		}
	}
	return value, true, nil
}

// read returns a file's content and the time of its last use. It does not block on named pipes,
// follow links, or read files beyond the quota.
func (f *File) read(path string) (content []byte, used time.Time, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|atomicfile.NoFollow, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !info.Mode().IsRegular() || info.Size() > f.maxBytes:
		return nil, time.Time{}, errNotOurs
	}
	content = make([]byte, info.Size())
	_, err = io.ReadFull(file, content)
	return content, info.ModTime(), err
}

// Put stores the value, replacing an earlier one. If necessary it evicts the least recently used
// values.
func (f *File) Put(_ context.Context, key string, value []byte) error {
	name := nameOf(key)
	content := seal(key, value)
	size := onDisk(int64(len(content)))
	if size > f.maxBytes {
		return ErrTooLarge
	}
	if err := f.write(name, content, os.Rename); err != nil {
		return fmt.Errorf("keep record: %w", err)
	}
	return f.account(name, size)
}

// PutNew stores a value if its key has none, and reports whether it did. Of several processes only
// one is first.
func (f *File) PutNew(_ context.Context, key string, value []byte) (first bool, err error) {
	name := nameOf(key)
	content := seal(key, value)
	err = f.write(name, content, func(temp, path string) error {
		if err := os.Link(temp, path); err != nil {
			return err
		}
		return os.Remove(temp)
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep record: %w", err)
	}
	return true, f.account(name, onDisk(int64(len(content))))
}

func (f *File) write(name string, content []byte, move func(temp, path string) error) error {
	path := f.path(name)
	folder := filepath.Dir(path)
	return atomicfile.Write{
		Folder: folder, Prefix: tempPrefix,
		Make:  func() error { return os.MkdirAll(folder, dirMode) },
		Place: func(temp string) error { return move(temp, path) },
	}.Do(content)
}

func (f *File) path(name string) string { return filepath.Join(f.dir, name[:1], name) }

// nameOf returns a file name for any key. Its first digit selects the shard.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:20])
}
