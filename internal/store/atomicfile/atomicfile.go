package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// folderMode makes new folders private to their owner. Files are private too: os.CreateTemp does
// that.
const folderMode = 0o700

// Write says how to write a file atomically.
type Write struct {
	Folder  string                  // folder of the file
	Prefix  string                  // prefix of the temporary name
	Make    func() error            // creates a missing folder; nil: fail
	Durable bool                    // sync the content before Place
	Place   func(temp string) error // moves the file into place
}

// Do writes a file. On failure it leaves nothing behind.
func (w Write) Do(content []byte) (err error) {
	temp, err := os.CreateTemp(w.Folder, w.Prefix+"*") // exclusive, and private to us
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

// Replace replaces a file atomically. It creates a missing folder.
func Replace(path string, content []byte, durable bool) error {
	folder := filepath.Dir(path)
	return Write{
		Folder: folder, Prefix: "." + filepath.Base(path) + "-", Durable: durable,
		Make:  func() error { return os.MkdirAll(folder, folderMode) },
		Place: func(temp string) error { return os.Rename(temp, path) },
	}.Do(content)
}
