//go:build !linux

package clock

import "time"

// sleptSoFar is not known here.
func sleptSoFar() (time.Duration, bool) { return 0, false }
