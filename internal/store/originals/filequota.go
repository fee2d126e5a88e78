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
	// blockSize is the unit in which disks give out room. Counting in it also bounds the number of tiny files.
	blockSize = 4096
	// timeGrain is the coarsest unit in which a file system writes down times (FAT). Moments of expiry are
	// rounded up to it, so that an original may live a little longer but never less than promised.
	timeGrain = 2 * time.Second
	// tempLife is how long a file may be in the making. Older ones were left by a process that was killed.
	tempLife = 10 * time.Minute

	// The directory is looked through again after this time, because others add to it and things expire; more
	// often when it is nearly full; and when it is full before a Put is refused, but not for each.
	scanEvery     = time.Minute
	scanNearly    = 5 * time.Second
	scanWhenFull  = time.Second
	nearlyFull    = 0.9
	removeAtATime = 64 // with the lock held
	reserveTries  = 32 // of a Put for which room is made that others take
)

// usage is what the directory holds: counted by a scan, kept up to date by this process's own writes.
type usage struct {
	bytes    int64
	count    int
	of       map[tag]int64 // bytes by tenant, where they are counted so
	byTenant bool          // they were, of all that is there
	scanned  time.Time

	// Of the scan under way; zero without one.
	running    chan struct{}      // closed when it ends
	cancel     context.CancelFunc // ends it early; nil for one that somebody waits for
	addedBytes int64              // written since it began: it may have missed them
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

// lack is what there was no room for.
type lack struct {
	size  int64
	owner tag
}

// expiry is the moment an original used now expires. It is kept in the file, and as the file's time of modification: one look
// at a directory entry tells what has expired, whoever wrote it and however much time that process gave.
func (f *File) expiry() time.Time {
	until := f.clock.Latest().Add(f.ttl)
	if whole := until.Truncate(timeGrain); whole.Before(until) {
		return whole.Add(timeGrain)
	}
	return until.Round(0) // without the monotonic reading, which files do not have
}

func expired(info fs.FileInfo, now time.Time) bool { return !now.Before(info.ModTime()) }

// onDisk is the room a file of this size takes.
func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// reserve counts one more file of this size, after making room if need be, or says why it cannot be.
func (f *File) reserve(ctx context.Context, size int64, owner tag) error {
	if size > f.maxBytes {
		return ErrTooLarge
	}
	for range reserveTries {
		if f.tryReserve(size, owner) {
			return nil
		}
		if !f.makeRoom(ctx, size, owner) && !f.oldest { // else others may have taken the room that was made
			break
		}
	}
	return ErrFull
}

// hasRoom reports whether a file of this size fits in.
func (f *File) hasRoom(size int64, owner tag) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fits(size, owner)
}

// makeRoom drops what has expired and, where that is wanted, what was not used for longest. It reports whether a file
// of this size fits in now.
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

// rescanNow looks through the directory, or waits for somebody who does. It reports whether anything may have
// changed: when the last look was a moment ago it is not repeated.
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

// rescanLater looks through the directory in the background when it is time to.
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the Put that found it due
	f.usage.cancel = cancel
	f.tasks.Go(func() {
		defer cancel()
		f.scan(ctx)
	})
}

// scan counts what is there and removes what has expired. One scan runs at a time; a second returns at once.
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

// tally is what a scan has found so far.
type tally struct {
	bytes      int64
	count      int
	of         map[tag]int64   // bytes by tenant; nil: not counted so
	there      map[string]bool // originals that are there; nil: not noted
	incomplete bool            // something could not be looked at: the sum is too small
}

// tallyDir adds one folder's files of ours and removes the expired among them. Anything else there is not ours.
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

// remove deletes files that are still over now that nobody else can renew them.
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
		total.add(f, path, info, -1) // while it can still be asked whose it is
		if err := os.Remove(path); err != nil {
			f.log.DebugContext(ctx, "expired original not removed", "path", path, "err", err)
			total.add(f, path, info, 1)
		}
	}
}

// isOver reports whether a file of ours has no more use: an original that expired, or one left half written. A copy of a file has
// the time at which it was made: it is given the one that stands in it.
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
	_ = os.Chtimes(path, time.Time{}, until) // if it cannot be, the file is read again at the next look
	return false
}

// expiryIn is the moment that stands in a file; false where none does.
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
	if _, err := file.ReadAt(tail[:], headerSize+int64(binary.BigEndian.Uint64(head[24:]))); err != nil { //nolint:gosec // a wrong one is past the end
		return time.Time{}, false
	}
	return readTrailer(tail[:])
}

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

func isOurs(name string) bool { return isTemp(name) || isID(name) }
