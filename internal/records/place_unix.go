//go:build !windows

package records

import (
	"errors"
	"os"
	"syscall"
)

// openSafely opens without following a symbolic link, and without waiting for the other end of a named pipe.
const openSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncFolder forces the names in a folder to the disk. A file system that has no such thing is let be.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
