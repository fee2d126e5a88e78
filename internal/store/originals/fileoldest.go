package originals

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
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
	tag  tag       // whose it is, where room is counted by tenants
}

// dropOldest drops the originals that were not used for longest (LRU), until a file of this size and some more fit in; of several
// tenants, those of whoever has most. Another process that shares the directory may do the same: what is gone already is passed over.
func (f *File) dropOldest(ctx context.Context, size int64, owner tag) {
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
	for c := range fairly(f.candidates(), size, owner) {
		if need <= 0 {
			return
		}
		if err := os.Remove(c.path); err != nil {
			f.log.DebugContext(ctx, "old original not dropped", "path", c.path, "err", err)
			continue
		}
		need -= c.size
		f.account(-c.size, -1, c.tag)
		f.mu.Lock()
		f.dropped++
		f.mu.Unlock()
	}
}

// candidates are all originals, those first that were not used for longest.
func (f *File) candidates() (all []candidate) {
	f.mu.Lock()
	here, counting := maps.Clone(f.used), f.counting()
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
				c := candidate{path: filepath.Join(dir, e.Name()), used: info.ModTime(), here: here[e.Name()], size: onDisk(info.Size())}
				if counting {
					c.tag = f.tagOf(c.path)
				}
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.used.Compare(b.used), a.here.Compare(b.here), cmp.Compare(a.path, b.path))
	})
	return all
}

// fairly goes over candidates, oldest first, always one of the tenant that has most, the owner of a file of this size counted with it. It
// ends where only the owner's own could go and there are none: nobody's originals go for more than they have themselves.
func fairly(all []candidate, size int64, owner tag) iter.Seq[candidate] {
	has, queues := map[tag]int64{owner: size}, map[tag][]candidate{}
	for _, c := range all {
		has[c.tag] += c.size
		queues[c.tag] = append(queues[c.tag], c)
	}
	return func(yield func(candidate) bool) {
		for {
			most := owner
			for t, bytes := range has {
				if bytes > has[most] {
					most = t
				}
			}
			if len(queues[most]) == 0 {
				return
			}
			oldest := queues[most][0]
			queues[most] = queues[most][1:]
			has[most] -= oldest.size
			if !yield(oldest) {
				return
			}
		}
	}
}
