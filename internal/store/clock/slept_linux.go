package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleptSoFar is how long the machine has slept since it was started: what the clock since the start counts and the monotonic one does not.
func sleptSoFar() (time.Duration, bool) {
	var boot, running unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &running) != nil {
		return 0, false
	}
	// They are not read in the same instant: what is less than a second is no sleep.
	return time.Duration(boot.Nano() - running.Nano()).Truncate(time.Second), true
}
