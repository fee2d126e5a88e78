package originals

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"secateur/internal/store/atomicfile"
)

// tag is the hash of a tenant in a file's header.
type tag = [8]byte

// tagOf returns the tenant's tag of an original's file, from memory or from its header. A file
// without one has the zero tag.
func (f *File) tagOf(path string) (t tag) {
	id := filepath.Base(path)
	f.mu.Lock()
	t, known := f.owners[id]
	f.mu.Unlock()
	if known {
		return t
	}
	file, err := os.OpenFile(path, os.O_RDONLY|atomicfile.NoFollow, 0)
	if err != nil {
		return tag{}
	}
	defer file.Close()
	var head [headerSize]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || string(head[:4]) != fileMagic {
		return tag{}
	}
	copy(t[:], head[8:16])
	f.mu.Lock()
	f.owners[id] = t
	f.mu.Unlock()
	return t
}

// note remembers the tenant of an original that is being put.
func (f *File) note(id string, t tag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.counting() {
		return
	}
	f.owners[id] = t
	if !f.usage.byTenant {
		f.usage.scanned = time.Time{} // forces a scan that counts by tenant
	}
}

// counting reports whether room is counted by tenant too. The caller holds mu.
func (f *File) counting() bool { return f.shared != nil && f.shared() }

// fits reports whether a file of this size fits for a tenant. The caller holds mu.
func (f *File) fits(size int64, t tag) bool {
	left := f.maxBytes - f.usage.bytes - size
	if left < 0 {
		return false
	}
	return f.oldest || !f.counting() || f.usage.of[t]+size <= left
}

// forget drops the tenants of originals whose files are gone.
func (f *File) forget(there map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.owners {
		if !there[id] {
			delete(f.owners, id)
		}
	}
}
