package originals

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkPlaces refuses a directory that somebody else has a hand in: one of another user's, a folder in it that is a
// symbolic link and leads elsewhere, a pipe that would block whoever opens it.
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

// checkPlace refuses what is there under a name of ours, but is not of the kind that we make or not this user's. What is
// not there is fine.
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
