//go:build unix

package proxy_test

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process; 0: unknown.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
