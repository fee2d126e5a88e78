package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Purge removes the files of a directory, and returns how many. No process should use it.
func Purge(dir string) (count int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		if _, ok := dayOfName(e.Name()); !ok && !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return count, err
		}
		count++
	}
	return count, err
}
