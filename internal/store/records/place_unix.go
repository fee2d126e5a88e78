//go:build !windows

package records

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder syncs the names in a folder to disk. File systems without that operation are ignored.
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
