package confine

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detect returns what the running kernel can enforce.
var Detect = sync.OnceValue(func() Kernel {
	k := noSandbox()
	k.ABI, k.Filters, k.Root = landlockABI(), hasFilters(), os.Geteuid() == 0
	return k
})

// exec restricts the calling thread and executes a program on it. All other threads end with
// execve, so that their rights do not matter.
func (s *Spec) exec(path string, argv []string) error {
	runtime.LockOSThread()
	if err := unix.CloseRange(reportFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		closeOnExec()
	}
	if err := s.limit(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if s.ABI >= abiFiles {
		if err := s.landlock(); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if s.Filters {
		if err := install(s.filter(archOf(runtime.GOARCH))); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return &ExecError{syscall.Exec(path, argv, os.Environ())}
}

// closeOnExec is for kernels before 5.9, which have no close_range.
func closeOnExec() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		limit.Cur = 1 << 16
	}
	for fd := reportFD; fd < int(min(limit.Cur, 1<<20)); fd++ {
		unix.CloseOnExec(fd)
	}
}
