package originals

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"secateur/internal/store/atomicfile"
)

// tag is what a file says of the tenant that it belongs to.
type tag = [8]byte

// tagOf is the tenant's tag of an original's file: as it is known, else as its header says. The zero tag is of a file that does not say.
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

// note remembers whose an original is that is put here.
func (f *File) note(id string, t tag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.counting() {
		return
	}
	f.owners[id] = t
	if !f.usage.byTenant {
		f.usage.scanned = time.Time{} // what is there is counted by tenants after this Put
	}
}

// counting reports whether the room is counted by tenants too. The caller has the lock.
func (f *File) counting() bool { return f.shared != nil && f.shared() }

// fits reports whether a file of this size fits in for a tenant. The caller has the lock.
func (f *File) fits(size int64, t tag) bool {
	left := f.maxBytes - f.usage.bytes - size
	if left < 0 {
		return false
	}
	return f.oldest || !f.counting() || f.usage.of[t]+size <= left
}

// forget takes out of the owners those whose files are gone.
func (f *File) forget(there map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.owners {
		if !there[id] {
			delete(f.owners, id)
		}
	}
}
