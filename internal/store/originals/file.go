package originals

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"secateur/internal/store/clock"
)

// Modes of everything we make: what was cut out of a conversation is nobody else's to read.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

const (
	tempPrefix = ".put-"   // of a file that is being written; renamed when whole
	corruptDir = "corrupt" // where damaged files are set aside, for a person to look at
	maxUsed    = 1 << 16   // ids whose last use is remembered
	maxBuffer  = 4 << 20   // a larger one is not kept for the next Put
)

// FileOptions say where and how much a File keeps.
type FileOptions struct {
	Dir      string        // an absolute path; made if need be
	MaxBytes int64         // room on disk, for all processes that share the directory; 0: as Default
	TTL      time.Duration // how long an original lives after it was last put or got; 0: as Default
	Log      *slog.Logger  // nil discards
	Clock    *clock.Clock  // nil: one of its own

	DropOldest bool // those that were not used for longest make room for new ones; false: new ones are refused

	Shared  func() bool // see Options
	NoSweep bool        // what has expired stays when the store is opened, so that it can be told from what never was there
}

// File is a Store of one file per original, in a directory that may be shared by several processes and outlives
// them. A file is written aside and renamed, so it is there whole or not at all whenever a process is killed. It
// is not forced to the disk: after a power cut a file may be missing or damaged, and a damaged one is recognised
// by its sums, set aside, and answered as not found.
type File struct {
	dir      string
	maxBytes int64
	ttl      time.Duration
	oldest   bool          // FileOptions.DropOldest
	shared   func() bool   // FileOptions.Shared; nil: never
	patience time.Duration // with another who holds the lock
	log      *slog.Logger
	clock    *clock.Clock
	codec    codec
	buffers  sync.Pool // *[]byte, for what is being written

	tasks sync.WaitGroup // scans in the background, and every Put and Get under way

	mu      sync.Mutex
	closed  bool
	usage   usage
	used    map[string]time.Time // when this process last put or got an original
	lacking lack                 // the last one for which there was no room; zero: there was
	owners  map[string]tag       // whose an original is, where room is counted by tenants
	refused int64
	dropped int64
	corrupt int64
}

var _ StoreCloser = (*File)(nil)

// errDiskFull is ErrFull for a reason that is not ours.
var errDiskFull = fmt.Errorf("%w: no room on the disk", ErrFull)

// OpenFile opens a directory of originals, making it if it is not there, and counts what it holds.
func OpenFile(o FileOptions) (*File, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = Default().MaxBytes
	}
	if o.TTL <= 0 {
		o.TTL = Default().TTL
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = &clock.Clock{}
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("open originals: directory %q is not absolute", o.Dir)
	}
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	f := &File{
		dir: o.Dir, maxBytes: o.MaxBytes, ttl: o.TTL, oldest: o.DropOldest, shared: o.Shared, patience: lockPatience, log: o.Log, clock: o.Clock, codec: c,
		used: map[string]time.Time{}, owners: map[string]tag{},
	}
	ctx := context.Background()
	if err := f.prepare(ctx); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open originals: %w", err)
	}
	if err := f.openKey(ctx); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open originals: %w", err)
	}
	if !o.NoSweep {
		f.scan(ctx)
	}
	return f, nil
}

// ID is what Put would return.
func (f *File) ID(tenant, text string) string { return f.codec.key.ID(tenant, text) }

// Put keeps the text.
func (f *File) Put(ctx context.Context, tenant, text string) (string, error) {
	id, err := f.put(ctx, tenant, text)
	if err != nil {
		f.mu.Lock()
		f.refused++
		f.mu.Unlock()
		return "", err
	}
	return id, nil
}

func (f *File) put(ctx context.Context, tenant, text string) (string, error) {
	if !f.begin() {
		return "", ErrUnavailable
	}
	defer f.tasks.Done()
	if int64(len(text)) > f.maxBytes {
		return "", ErrTooLarge
	}
	id := f.ID(tenant, text)
	renewed, err := f.renewKept(ctx, tenant, id)
	if err != nil || renewed {
		return id, err
	}
	// Compressing is the dear part: ask first whether there is room for any file at all.
	if owner := tenantTag(tenant); !f.oldest && !f.hasRoom(blockSize, owner) && !f.makeRoom(ctx, blockSize, owner) {
		return "", ErrFull
	}
	buf, _ := f.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	*buf = f.codec.encode((*buf)[:0], tenant, text, f.expiry())
	err = f.write(ctx, id, *buf)
	if errors.Is(err, errDiskFull) && f.rescanNow(ctx) {
		err = f.write(ctx, id, *buf) // what had expired has just left the disk
	}
	if cap(*buf) <= maxBuffer {
		f.buffers.Put(buf)
	}
	if err != nil {
		return "", err
	}
	f.setUsed(id)
	f.rescanLater(ctx)
	return id, nil
}

// Get returns the text.
func (f *File) Get(ctx context.Context, tenant, id string) (string, error) {
	if !isID(id) {
		return "", ErrNotFound
	}
	if !f.begin() {
		return "", ErrUnavailable
	}
	defer f.tasks.Done()
	var text string
	content, info, err := f.read(id, tenant)
	if err == nil {
		text, err = f.codec.decode(content, tenant, id)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(f.dir, corruptDir, id)); err == nil {
			return "", ErrDamaged
		}
		return "", ErrNotFound
	case errors.Is(err, errOtherTenant):
		return "", ErrNotFound
	case errors.Is(err, errCorrupt): // asked before expiry: whatever damaged the file may have changed its time
		f.setAside(ctx, id, info, err)
		return "", ErrDamaged
	case err != nil:
		return "", fmt.Errorf("read original: %w: %w", ErrUnavailable, err)
	case isOver(f.path(id), info, f.clock.Earliest()):
		return "", ErrExpired // the file is left to the next scan
	}
	f.renewRead(ctx, id)
	return text, nil
}

// Stats tells what is kept as of the last look at the directory, and what this process added since.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Stats{
		Kind: KindFile, Count: f.usage.count, Bytes: f.usage.bytes, MaxBytes: f.maxBytes,
		Full: f.lacking.size > 0 && !f.fits(f.lacking.size, f.lacking.owner), Refused: f.refused, Dropped: f.dropped, Corrupt: f.corrupt,
	}
}

// Close waits for what is under way.
func (f *File) Close() error {
	f.mu.Lock()
	wasClosed := f.closed
	f.closed = true
	if f.usage.cancel != nil {
		f.usage.cancel()
	}
	f.mu.Unlock()
	f.tasks.Wait()
	if wasClosed {
		return nil
	}
	return f.codec.close()
}

// begin notes one more task that Close has to wait for, unless the store is closed.
func (f *File) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.tasks.Add(1)
	return true
}

func (f *File) setUsed(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.used) >= maxUsed {
		clear(f.used) // the times of the files stand in
	}
	f.used[id] = time.Now()
}
