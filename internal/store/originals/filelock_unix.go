//go:build !windows

package originals

import (
	"errors"
	"os"
	"syscall"
)

func tryLock(file *os.File, mode lockMode) error {
	how := syscall.LOCK_SH
	if mode == lockAlone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLockBusy
		default:
			return err
		}
	}
}
