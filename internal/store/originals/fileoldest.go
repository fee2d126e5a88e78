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

// spareRoom is the fraction of the store that is freed beyond the need of a Put. It saves the next
// Puts another scan.
const spareRoom = 1.0 / 16

// candidate is an original that may be evicted.
type candidate struct {
	path string
	used time.Time // the file's mtime; with equal TTLs, the earlier was used earlier
	here time.Time // last use by this process; breaks ties, since file times are coarse
	size int64     // on disk
	tag  tag       // its tenant, if room is counted by tenant
}

// dropOldest evicts the least recently used originals (LRU) until a file of this size and some
// spare room fit. With several tenants, it evicts those of the largest one. Another process may do
// the same: files already gone are skipped.
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
	if need <= 0 { // another process has just made room
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

// candidates returns all originals, least recently used first.
func (f *File) candidates() (all []candidate) {
	f.mu.Lock()
	here, counting := maps.Clone(f.used), f.counting()
	f.mu.Unlock()
	for _, digit := range idAlphabet {
		dir := filepath.Join(f.dir, string(digit))
		if checkPlace(dir, fs.ModeDir) != nil {
			continue
		}
		entries, _ := os.ReadDir(dir) // a missing folder is empty
		for _, e := range entries {
			if !isID(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			if info, err := e.Info(); err == nil { // else the file is gone
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

// fairly iterates over candidates, oldest first, always one of the tenant with most bytes. The new
// file counts for its owner. It ends if only the owner's originals could go and there are none: a
// tenant never loses originals to a larger one.
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
