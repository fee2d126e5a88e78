//go:build !windows

package atomicfile

import "syscall"

// NoFollow is for os.OpenFile: no symbolic link is followed, and the other end of a named pipe is not waited for.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
