package records

import (
	"errors"
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
	// lookEvery is how long a folder's count is valid: others add to it, and values expire.
	lookEvery = 5 * time.Minute
	// tempLife is the maximum age of a file being written. Older ones are left over from a killed
	// process.
	tempLife = 10 * time.Minute
)

func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// account counts a written file, and makes room if necessary.
func (f *File) account(name string, size int64) error {
	s := &f.shards[shardOf(name)]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += size
	if s.bytes <= f.maxBytes && time.Since(s.looked) < lookEvery {
		return nil
	}
	bytes, err := f.look(name[:1])
	if err != nil {
		return err
	}
	s.bytes, s.looked = bytes, time.Now()
	return nil
}

func shardOf(name string) int { return strings.IndexByte("0123456789abcdef", name[0]) }

// look scans a folder and removes expired files. If the folder is over its quota, it evicts the
// least recently used. It returns the remaining size.
func (f *File) look(folder string) (int64, error) {
	dir := filepath.Join(f.dir, folder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	now := f.clock.Earliest()
	var kept []fs.FileInfo
	var bytes int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile, or not ours
		}
		life := f.ttl
		if strings.HasPrefix(e.Name(), tempPrefix) {
			life = tempLife
		}
		if now.Sub(info.ModTime()) >= life {
			if err := remove(dir, info); err != nil {
				return 0, err
			}
			continue
		}
		kept = append(kept, info)
		bytes += onDisk(info.Size())
	}
	if bytes <= f.maxBytes || f.kept == nil { // values of Keep are never evicted
		return bytes, nil
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	enough := f.maxBytes - f.maxBytes/8 // so that not every Put has to scan
	for _, info := range kept {
		if bytes <= enough {
			break
		}
		if err := remove(dir, info); err != nil {
			return 0, err
		}
		bytes -= onDisk(info.Size())
	}
	return bytes, nil
}

func remove(dir string, info fs.FileInfo) error {
	if err := os.Remove(filepath.Join(dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
