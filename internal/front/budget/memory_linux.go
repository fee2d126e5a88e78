package budget

import (
	"math"
	"syscall"
)

// addressSpace returns the limit of ulimit -v and ulimit -d; 0: unlimited.
func addressSpace() (known int64) {
	for _, resource := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(resource, &limit); err == nil && limit.Cur <= math.MaxInt64 {
			known = least(known, int64(limit.Cur))
		}
	}
	return known
}
