//go:build unix

package upstream

import (
	"errors"
	"syscall"
)

// canPeek says that a kept connection can be looked at before it is used again.
const canPeek = true

// peekSocket looks whether something can be read, and takes nothing.
func peekSocket(fd uintptr) peeked {
	var room [1]byte
	for {
		n, _, err := syscall.Recvfrom(int(fd), room[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return connOpen
		case err != nil || n == 0:
			return connEnded
		default:
			return connBroken
		}
	}
}
