package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleptSoFar returns how long the machine has slept since boot: CLOCK_BOOTTIME minus
// CLOCK_MONOTONIC.
func sleptSoFar() (time.Duration, bool) {
	var boot, running unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &running) != nil {
		return 0, false
	}
	// The two clocks are not read at the same instant, so ignore less than a second.
	return time.Duration(boot.Nano() - running.Nano()).Truncate(time.Second), true
}
