//go:build !windows

package atomicfile

import "syscall"

// NoFollow is a flag for os.OpenFile: do not follow symbolic links, and do not block on named
// pipes.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
