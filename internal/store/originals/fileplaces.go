package originals

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkPlaces refuses a directory that others can tamper with: owned by another user, with a
// symbolic link in place of a folder, or with a pipe that would block.
func (f *File) checkPlaces() error {
	if err := checkOwner(f.dir); err != nil {
		return err
	}
	for _, digit := range idAlphabet {
		if err := checkPlace(filepath.Join(f.dir, string(digit)), fs.ModeDir); err != nil {
			return err
		}
	}
	return errors.Join(
		checkPlace(filepath.Join(f.dir, corruptDir), fs.ModeDir),
		checkPlace(filepath.Join(f.dir, lockName), 0),
	)
}

// checkPlace refuses a path of ours with another file type or owner than ours. A missing path is
// fine.
func checkPlace(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != kind:
		return fmt.Errorf("%s is %s, which secateur did not make; remove it", path, kindOf(info.Mode()))
	}
	return checkOwner(path)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m.IsDir():
		return "a directory"
	case m.IsRegular():
		return "a file"
	}
	return "no file"
}
