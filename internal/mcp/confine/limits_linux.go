package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limit sets the resource limits, which the program cannot raise again.
func (s *Spec) limit() error {
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		// 1, not 0: with 0 a kernel that pipes dumps to a program still does
		{"core", unix.RLIMIT_CORE, 1},
		{"nproc", unix.RLIMIT_NPROC, threads() + uint64(s.Processes)},
		{"nofile", unix.RLIMIT_NOFILE, uint64(s.Files)},
	}
	if s.MemoryMB > 0 {
		limits = append(limits, struct {
			name     string
			resource int
			value    uint64
		}{"as", unix.RLIMIT_AS, uint64(s.MemoryMB) << 20})
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("rlimit %s: %w", l.name, err)
		}
		value := min(l.value, now.Max)
		// not unix.Prlimit: syscall must know, or Exec restores the old limit of files
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("rlimit %s: %w", l.name, err)
		}
	}
	return nil
}

// threads returns the number of threads of the machine. The kernel counts those of the user, which
// are fewer, so that a limit above it leaves room for new ones.
func threads() uint64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return fallbackThreads
	}
	fields := strings.Fields(string(b))
	if len(fields) < 4 {
		return fallbackThreads
	}
	_, total, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseUint(total, 10, 32)
	if err != nil {
		return fallbackThreads
	}
	return n
}

// fallbackThreads is assumed where /proc is not mounted.
const fallbackThreads = 4096

// kept are the capabilities that only concern files, users and own processes. A confined root has
// no others: no modules, no mounts, no raw network, no reboot.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

// dropCapabilities gives up all but kept. Most users have none.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	if data[0].Permitted == 0 && data[1].Permitted == 0 {
		return nil
	}
	for c := uintptr(0); c <= 63; c++ {
		if uint64(kept)&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // unknown to this kernel, or not ours to drop
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for i := range data {
		mask := uint32(uint64(kept) >> (32 * i))
		data[i].Effective &= mask
		data[i].Permitted &= mask
		data[i].Inheritable = 0
	}
	return unix.Capset(&header, &data[0])
}
