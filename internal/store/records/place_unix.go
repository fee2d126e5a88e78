//go:build !windows

package records

import (
	"errors"
	"os"
	"syscall"
)

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
