package originals

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// spareRoom is the part of the store that is freed beyond what a Put needs, so that the next ones need not look through
// the directory again.
const spareRoom = 1.0 / 16

// candidate is an original that may be dropped to make room.
type candidate struct {
	path string
	used time.Time // the file's time: of two that get the same time to live, the earlier one was used earlier
	here time.Time // when this process used it, for those whose files have the same time: that is coarse
	size int64     // on disk
}

// dropOldest drops the originals that were not used for longest (LRU), until a file of this size and some more fit in.
// Another process that shares the directory may do the same: what is gone already is passed over.
func (f *File) dropOldest(ctx context.Context, size int64) {
	unlock, err := f.lock(ctx, lockAlone)
	if err != nil {
		f.log.DebugContext(ctx, "old originals not dropped", "err", err)
		return
	}
	defer unlock()
	f.mu.Lock()
	need := f.usage.bytes + size - f.maxBytes
	f.mu.Unlock()
	if need <= 0 { // somebody else has just made room
		return
	}
	need += int64(spareRoom * float64(f.maxBytes))
	for _, c := range f.candidates() {
		if need <= 0 {
			return
		}
		if err := os.Remove(c.path); err != nil {
			f.log.DebugContext(ctx, "old original not dropped", "path", c.path, "err", err)
			continue
		}
		need -= c.size
		f.account(-c.size, -1)
		f.mu.Lock()
		f.dropped++
		f.mu.Unlock()
	}
}

// candidates are all originals, those first that were not used for longest.
func (f *File) candidates() (all []candidate) {
	f.mu.Lock()
	here := maps.Clone(f.used)
	f.mu.Unlock()
	for _, digit := range idAlphabet {
		dir := filepath.Join(f.dir, string(digit))
		if checkPlace(dir, fs.ModeDir) != nil {
			continue
		}
		entries, _ := os.ReadDir(dir) // one that is not there holds nothing
		for _, e := range entries {
			if !isID(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			if info, err := e.Info(); err == nil { // else it is gone meanwhile
				all = append(all, candidate{filepath.Join(dir, e.Name()), info.ModTime(), here[e.Name()], onDisk(info.Size())})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.used.Compare(b.used), a.here.Compare(b.here), cmp.Compare(a.path, b.path))
	})
	return all
}
