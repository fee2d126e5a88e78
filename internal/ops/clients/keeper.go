package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"secateur/internal/store/atomicfile"
)

// MaxBytes limits the size of a client's file. Claude Code keeps more than servers in its own.
const MaxBytes = 64 << 20

// Version is the content of a file at one moment.
type Version struct {
	Data   []byte
	Exists bool
}

// Keeper writes files and keeps their former contents in the state directory.
type Keeper struct {
	StateDir string // "": no backups possible, so nothing is written
}

var errNoState = errors.New("there is no state directory to keep a backup in; set XDG_STATE_HOME or HOME")

// Regular refuses an existing path that is not a regular file: a pipe would block, and a device may
// never end.
func Regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	}
	return nil
}

// Read returns the current content of a file.
func Read(path string) (Version, error) {
	if err := Regular(path); err != nil {
		return Version{}, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Version{}, nil
	}
	if err != nil {
		return Version{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return Version{}, err
	}
	if len(data) > MaxBytes {
		return Version{}, fmt.Errorf("%s is larger than %d bytes", path, MaxBytes)
	}
	return Version{Data: data, Exists: true}, nil
}

// Replace changes a file from one version to another. It returns the path of the backup, or "" if
// there was no file. It does not touch a file that has changed meanwhile.
func (k Keeper) Replace(path string, before, after Version) (backup string, err error) {
	if backup, err = k.backUp(path, before); err != nil {
		return "", err
	}
	return backup, write(path, before, after)
}

// backUp stores a version under the file name and a content hash, so that equal contents are stored
// once.
func (k Keeper) backUp(path string, v Version) (string, error) {
	if k.StateDir == "" {
		return "", errNoState
	}
	if !v.Exists {
		return "", nil
	}
	sum := digest(v.Data)
	backup := filepath.Join(k.StateDir, "backups", filepath.Base(path)+"."+sum[:12])
	if err := os.MkdirAll(filepath.Dir(backup), 0o700); err != nil {
		return "", err
	}
	return backup, writeWhole(backup, v.Data, 0o600)
}

func write(path string, before, after Version) error {
	target, mode := path, fs.FileMode(0o600) // it may contain a token
	if before.Exists {
		var err error
		// keep the link, write its target
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	now, err := Read(path)
	if err != nil {
		return err
	}
	if now.Exists != before.Exists || !bytes.Equal(now.Data, before.Data) {
		return fmt.Errorf("%s has changed meanwhile; nothing was written, try again", path)
	}
	if !after.Exists {
		return os.Remove(path)
	}
	return writeWhole(target, after.Data, mode)
}

// writeWhole replaces a file atomically, with the given mode.
func writeWhole(path string, data []byte, mode fs.FileMode) error {
	return atomicfile.Write{
		Folder: filepath.Dir(path), Prefix: ".secateur-", Durable: true,
		Place: func(temp string) error {
			if err := os.Chmod(temp, mode); err != nil {
				return err
			}
			return os.Rename(temp, path)
		},
	}.Do(data)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
