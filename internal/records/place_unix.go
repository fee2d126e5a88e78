//go:build !windows

package records

import "syscall"

// openSafely opens without following a symbolic link, and without waiting for the other end of a named pipe.
const openSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
