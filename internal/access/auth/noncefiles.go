package auth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// nonceFiles keeps used nonces across restarts. Each slot of nonceLife has a file, named by the
// slot's number. It holds the nonces' hashes back to back. Processes that share the folder append
// to the same files.
type nonceFiles struct {
	dir  string
	slot int64    // slot of file
	file *os.File // nil: none is open
}

// maxNonceFile limits how many hashes of a slot are read.
const maxNonceFile = 4 * maxNonces

// read returns the nonces of a slot. A slot without a file has none.
func (f *nonceFiles) read(slot int64) (map[nonceHash]struct{}, error) {
	b, err := f.content(slot)
	used := make(map[nonceHash]struct{}, len(b)/len(nonceHash{}))
	for len(b) >= len(nonceHash{}) { // ignore a partial write at the end: it was never acknowledged
		used[nonceHash(b)] = struct{}{}
		b = b[len(nonceHash{}):]
	}
	return used, err
}

func (f *nonceFiles) content(slot int64) ([]byte, error) {
	file, err := os.Open(f.path(slot))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = int64(maxNonceFile * len(nonceHash{}))
	b, err := io.ReadAll(io.LimitReader(file, most+1))
	if int64(len(b)) > most {
		return b, fmt.Errorf("%s is larger than %d bytes", file.Name(), most)
	}
	return b, err
}

// add appends a nonce to the file of a slot.
func (f *nonceFiles) add(slot int64, n nonceHash) error {
	if f.file == nil || f.slot != slot {
		if err := f.open(slot); err != nil {
			return err
		}
	}
	_, err := f.file.Write(n[:])
	if err != nil {
		f.close() // the next add reopens and realigns it
	}
	return err
}

// open opens the file of a slot and removes the files of expired slots.
func (f *nonceFiles) open(slot int64) error {
	f.close()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	f.sweep(slot)
	file, err := os.OpenFile(f.path(slot), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	at, err := file.Seek(0, io.SeekEnd)
	if rest := at % int64(len(nonceHash{})); err == nil && rest != 0 { // pad a partial write
		_, err = file.Write(make([]byte, int64(len(nonceHash{}))-rest))
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	f.file, f.slot = file, slot
	return nil
}

func (f *nonceFiles) sweep(slot int64) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if of, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && of < slot-1 {
			_ = os.Remove(filepath.Join(f.dir, e.Name()))
		}
	}
}

func (f *nonceFiles) close() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}

func (f *nonceFiles) path(slot int64) string {
	return filepath.Join(f.dir, strconv.FormatInt(slot, 10))
}
