//go:build !windows

package app

import (
	"errors"
	"syscall"
)

// isRefused reports whether no process listens on a socket.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
