package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// folderMode is that of a folder that is made: what we keep is its owner's alone. A file is that as well: os.CreateTemp makes it so.
const folderMode = 0o700

// Write is how a file gets to its place.
type Write struct {
	Folder  string                  // where it is written: that of its place
	Prefix  string                  // of its name until it is whole
	Make    func() error            // makes the folder where there is none; nil: that is a failure
	Durable bool                    // it is forced to the disk before it gets to its place
	Place   func(temp string) error // moves it there
}

// Do writes a file. Where that fails nothing is left of it.
func (w Write) Do(content []byte) (err error) {
	temp, err := os.CreateTemp(w.Folder, w.Prefix+"*") // exclusively, and for us alone
	if errors.Is(err, fs.ErrNotExist) && w.Make != nil {
		if err := w.Make(); err != nil {
			return err
		}
		temp, err = os.CreateTemp(w.Folder, w.Prefix+"*")
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(content)
	if err == nil && w.Durable {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return w.Place(temp.Name())
}

// Replace writes the file of a path anew. Its folder is made where there is none.
func Replace(path string, content []byte, durable bool) error {
	folder := filepath.Dir(path)
	return Write{
		Folder: folder, Prefix: "." + filepath.Base(path) + "-", Durable: durable,
		Make:  func() error { return os.MkdirAll(folder, folderMode) },
		Place: func(temp string) error { return os.Rename(temp, path) },
	}.Do(content)
}
