package originals

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// blockSize is the allocation unit of disks. Counting in it also limits the number of tiny
	// files.
	blockSize = 4096
	// timeGrain is the coarsest timestamp resolution of a file system (FAT). Expiries are rounded
	// up to it: an original may live a little longer, never shorter.
	timeGrain = 2 * time.Second
	// tempLife is the maximum age of a file being written. Older ones are left over from a killed
	// process.
	tempLife = 10 * time.Minute

	// The directory is scanned periodically, because others add to it and files expire. It is
	// scanned more often when nearly full, and before a full store refuses a Put, at most every
	// scanWhenFull.
	scanEvery     = time.Minute
	scanNearly    = 5 * time.Second
	scanWhenFull  = time.Second
	nearlyFull    = 0.9
	removeAtATime = 64 // with the lock held
	reserveTries  = 32 // attempts of a Put to get room that others may take first
)

// usage is the size of the directory: counted by a scan, then updated by this process's own writes.
type usage struct {
	bytes    int64
	count    int
	of       map[tag]int64 // bytes by tenant, if counted so
	byTenant bool          // of covers everything in the directory
	scanned  time.Time

	// The running scan; zero: none.
	running    chan struct{}      // closed when it ends
	cancel     context.CancelFunc // cancels it; nil if a caller waits for it
	addedBytes int64              // written since it began, which it may have missed
	addedCount int
	addedOf    map[tag]int64
}

func (u *usage) add(size int64, count int, owner tag) {
	u.bytes += size
	u.count += count
	u.addedBytes += size
	u.addedCount += count
	if u.of == nil {
		u.of = map[tag]int64{}
	}
	u.of[owner] += size
	if u.running != nil {
		u.addedOf[owner] += size
	}
}

// lack is a request that found no room.
type lack struct {
	size  int64
	owner tag
}

// expiry returns the expiry of an original used now. It is stored in the file and as its mtime. So
// listing a directory shows what has expired, also for files of other processes with another TTL.
func (f *File) expiry() time.Time {
	until := f.clock.Latest().Add(f.ttl)
	if whole := until.Truncate(timeGrain); whole.Before(until) {
		return whole.Add(timeGrain)
	}
	return until.Round(0) // drop the monotonic reading, which files do not have
}

func expired(info fs.FileInfo, now time.Time) bool { return !now.Before(info.ModTime()) }

// onDisk returns the disk space of a file of this size.
func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// reserve accounts for a new file of this size, after making room if necessary.
func (f *File) reserve(ctx context.Context, size int64, owner tag) error {
	if size > f.maxBytes {
		return ErrTooLarge
	}
	for range reserveTries {
		if f.tryReserve(size, owner) {
			return nil
		}
		if !f.makeRoom(ctx, size, owner) && !f.oldest { // else others may have taken the freed room
			break
		}
	}
	return ErrFull
}

// hasRoom reports whether a file of this size fits.
func (f *File) hasRoom(size int64, owner tag) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fits(size, owner)
}

// makeRoom removes expired originals and, if configured, evicts the least recently used. It reports
// whether a file of this size fits now.
func (f *File) makeRoom(ctx context.Context, size int64, owner tag) bool {
	if f.rescanNow(ctx) && f.hasRoom(size, owner) {
		return true
	}
	if f.oldest {
		f.dropOldest(ctx, size, owner)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fits(size, owner) {
		return true
	}
	f.lacking = lack{size, owner}
	return false
}

func (f *File) tryReserve(size int64, owner tag) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.fits(size, owner) {
		return false
	}
	f.usage.add(size, 1, owner)
	f.lacking = lack{}
	return true
}

func (f *File) account(size int64, count int, owner tag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.usage.add(size, count, owner)
}

// rescanNow scans the directory, or waits for a running scan. It reports whether anything may have
// changed; a very recent scan is not repeated.
func (f *File) rescanNow(ctx context.Context) bool {
	f.mu.Lock()
	running := f.usage.running
	recent := time.Since(f.usage.scanned) < scanWhenFull
	f.mu.Unlock()
	switch {
	case running != nil:
		select {
		case <-running:
		case <-ctx.Done():
		}
	case recent:
		return false
	default:
		f.scan(ctx)
	}
	return true
}

// rescanLater starts a background scan when one is due.
func (f *File) rescanLater(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	every := scanEvery
	if float64(f.usage.bytes) > nearlyFull*float64(f.maxBytes) {
		every = scanNearly
	}
	if f.closed || f.usage.running != nil || time.Since(f.usage.scanned) < every {
		return
	}
	// outlives the Put that started it
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.usage.cancel = cancel
	f.tasks.Go(func() {
		defer cancel()
		f.scan(ctx)
	})
}

// scan counts files and removes expired ones. Only one scan runs at a time; a second returns at
// once.
func (f *File) scan(ctx context.Context) {
	f.mu.Lock()
	if f.usage.running != nil {
		f.mu.Unlock()
		return
	}
	done := make(chan struct{})
	f.usage.running = done
	f.usage.addedBytes, f.usage.addedCount, f.usage.addedOf = 0, 0, map[tag]int64{}
	var total tally
	if f.counting() {
		total.of, total.there = map[tag]int64{}, map[string]bool{}
	}
	f.mu.Unlock()

	f.tallyDir(ctx, &total, f.dir, isTemp)
	for _, digit := range idAlphabet {
		f.tallyDir(ctx, &total, filepath.Join(f.dir, string(digit)), isOurs)
	}
	count := total.count
	f.tallyDir(ctx, &total, filepath.Join(f.dir, corruptDir), isID)

	if total.of != nil && !total.incomplete {
		f.forget(total.there)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !total.incomplete {
		if total.of != nil {
			for owner, size := range f.usage.addedOf {
				total.of[owner] += size
			}
			f.usage.of, f.usage.byTenant = total.of, true
		}
		f.usage.bytes = total.bytes + f.usage.addedBytes
		f.usage.count = count + f.usage.addedCount
	}
	f.usage.scanned = time.Now()
	f.usage.running, f.usage.cancel = nil, nil
	close(done)
}

// tally is the intermediate result of a scan.
type tally struct {
	bytes      int64
	count      int
	of         map[tag]int64   // bytes by tenant; nil: not counted
	there      map[string]bool // existing originals; nil: not recorded
	incomplete bool            // something could not be read, so the sum is too small
}

// tallyDir adds the files of one folder that are ours, and removes the expired ones. Other files
// are ignored.
func (f *File) tallyDir(ctx context.Context, total *tally, dir string, ours func(name string) bool) {
	err := checkPlace(dir, fs.ModeDir)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.WarnContext(ctx, "directory of originals cannot be read", "dir", dir, "err", err)
		total.incomplete = true
	}
	var over []string
	now := f.clock.Earliest()
	for _, e := range entries {
		if ctx.Err() != nil {
			total.incomplete = true
			return
		}
		if !ours(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		total.add(f, filepath.Join(dir, e.Name()), info, 1)
		if isOver(filepath.Join(dir, e.Name()), info, now) {
			over = append(over, e.Name())
		}
	}
	for names := range slices.Chunk(over, removeAtATime) {
		f.remove(ctx, total, dir, names)
	}
}

func (t *tally) add(f *File, path string, info fs.FileInfo, sign int) {
	size := int64(sign) * onDisk(info.Size())
	t.bytes += size
	if isTemp(info.Name()) {
		return
	}
	t.count += sign
	if t.of != nil {
		t.of[f.tagOf(path)] += size
		t.there[info.Name()] = sign > 0
	}
}

// remove deletes files that are still expired, with the exclusive lock held.
func (f *File) remove(ctx context.Context, total *tally, dir string, names []string) {
	unlock, err := f.lock(ctx, lockAlone)
	if err != nil {
		f.log.DebugContext(ctx, "expired originals not removed", "dir", dir, "count", len(names), "err", err)
		return
	}
	defer unlock()
	now := f.clock.Earliest()
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !isOver(path, info, now) {
			continue
		}
		total.add(f, path, info, -1) // while its tenant can still be read
		if err := os.Remove(path); err != nil {
			f.log.DebugContext(ctx, "expired original not removed", "path", path, "err", err)
			total.add(f, path, info, 1)
		}
	}
}

// isOver reports whether a file of ours can go: an expired original, or an abandoned temporary
// file. Copying resets a file's mtime, so it restores the one in the trailer.
func isOver(path string, info fs.FileInfo, now time.Time) bool {
	if isTemp(info.Name()) {
		return now.Sub(info.ModTime()) > tempLife
	}
	if !expired(info, now) {
		return false
	}
	until, ok := expiryIn(path)
	if !ok || !now.Before(until) {
		return true
	}
	_ = os.Chtimes(path, time.Time{}, until) // on failure the next scan reads the file again
	return false
}

// expiryIn returns the expiry in a file's trailer; false: none.
func expiryIn(path string) (time.Time, bool) {
	file, err := os.Open(path)
	if err != nil {
		return time.Time{}, false
	}
	defer file.Close()
	var head [headerSize]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || string(head[:4]) != fileMagic || behind(head[:]) == 0 {
		return time.Time{}, false
	}
	var tail [trailerSize]byte
	if _, err := file.ReadAt(tail[:], headerSize+int64(binary.BigEndian.Uint64(head[24:]))); err != nil { //nolint:gosec // a wrong value is past the end
		return time.Time{}, false
	}
	return readTrailer(tail[:])
}

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

func isOurs(name string) bool { return isTemp(name) || isID(name) }
