//go:build !windows

package originals

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// isSymlink reports whether opening failed because of a symbolic link.
func isSymlink(err error) bool { return errors.Is(err, syscall.ELOOP) }

// checkOwner refuses a file of another user, who could change it at any time.
func checkOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user %d, and secateur runs as %d; change its owner, or choose another directory in store.url",
			path, owner.Uid, os.Geteuid())
	}
	return nil
}
