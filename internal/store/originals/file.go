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

// Modes of everything we create: originals are private to this user.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

const (
	tempPrefix = ".put-"   // prefix of a file being written; renamed when complete
	corruptDir = "corrupt" // folder for damaged files, for a person to inspect
	maxUsed    = 1 << 16   // number of ids whose last use is remembered
	maxBuffer  = 4 << 20   // larger buffers are not pooled
)

// FileOptions configure a File.
type FileOptions struct {
	Dir      string        // absolute path; created if missing
	MaxBytes int64         // disk quota for all processes that share the directory; 0: as Default
	TTL      time.Duration // life of an original after its last Put or Get; 0: as Default
	Log      *slog.Logger  // nil discards
	Clock    *clock.Clock  // nil: a new one

	DropOldest bool // evict the least recently used; false: refuse new originals

	Shared  func() bool // see Options
	NoSweep bool        // keep expired originals at opening, so that Get can return ErrExpired
}

// File is a Store with one file per original. Several processes may share its directory, which
// outlives them. A file is written aside and renamed, so a killed process never leaves half a file.
// Files are not synced: after a power cut a file may be missing or damaged. A damaged file is
// detected by its checksums, moved aside, and reported as not found.
type File struct {
	dir      string
	maxBytes int64
	ttl      time.Duration
	oldest   bool          // FileOptions.DropOldest
	shared   func() bool   // FileOptions.Shared; nil: never
	patience time.Duration // timeout of the directory's lock
	log      *slog.Logger
	clock    *clock.Clock
	codec    codec
	buffers  sync.Pool // *[]byte, buffers for encoding

	tasks sync.WaitGroup // background scans, and every running Put and Get

	mu      sync.Mutex
	closed  bool
	usage   usage
	used    map[string]time.Time // last Put or Get by this process
	lacking lack                 // the last original without room; zero: none
	owners  map[string]tag       // tenant of each original, if room is counted by tenant
	noDisk  bool                 // the last write found no room on the disk
	refused int64
	dropped int64
	corrupt int64
}

var _ StoreCloser = (*File)(nil)

// errDiskFull is ErrFull because of the disk, not of our quota.
var errDiskFull = fmt.Errorf("%w: no room on the disk", ErrFull)

// OpenFile opens a directory of originals, creates it if missing, and counts its contents.
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

// ID returns the id that Put would return.
func (f *File) ID(tenant, text string) string { return f.codec.key.ID(tenant, text) }

// Put stores the text.
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
	// Compression is expensive, so first check for room for any file at all.
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
		err = f.write(ctx, id, *buf) // expired files were just removed from the disk
	}
	if cap(*buf) <= maxBuffer {
		f.buffers.Put(buf)
	}
	f.mu.Lock()
	f.noDisk = errors.Is(err, errDiskFull)
	f.mu.Unlock()
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
	case errors.Is(err, errCorrupt): // before expiry: damage may have changed the expiry too
		f.setAside(ctx, id, info, err)
		return "", ErrDamaged
	case err != nil:
		return "", fmt.Errorf("read original: %w: %w", ErrUnavailable, err)
	case isOver(f.path(id), info, f.clock.Earliest()):
		return "", ErrExpired // the next scan removes the file
	}
	f.renewRead(ctx, id)
	return text, nil
}

// Stats returns the counts of the last scan, plus this process's changes since.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Stats{
		Kind: KindFile, Count: f.usage.count, Bytes: f.usage.bytes, MaxBytes: f.maxBytes,
		Full: f.noDisk || f.lacking.size > 0 && !f.fits(f.lacking.size, f.lacking.owner), DiskFull: f.noDisk, Refused: f.refused, Dropped: f.dropped, Corrupt: f.corrupt,
	}
}

// Close waits for running calls.
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

// begin registers a call that Close must wait for, unless the store is closed.
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
		clear(f.used) // the files' times serve instead
	}
	f.used[id] = time.Now()
}
