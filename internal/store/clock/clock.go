package clock

import (
	"sync"
	"time"
)

// Clock continues from the time of day at its first use and ignores steps of the system clock. It
// includes the time that the machine sleeps. The zero value is ready. Outside Linux the sleeping
// time is unknown, so it is the system clock there.
type Clock struct {
	Wall func() time.Time // system time of day; nil: time.Now

	once  sync.Once
	start time.Time // with the monotonic reading
	wall  time.Time // without
	slept time.Duration
}

// Now returns the steady time: differences between two results are elapsed time.
func (c *Clock) Now() time.Time {
	slept, known := sleptSoFar()
	if !known {
		return c.read()
	}
	c.once.Do(func() { c.start, c.wall, c.slept = time.Now(), c.read().Round(0), slept })
	return c.wall.Add(time.Since(c.start) + slept - c.slept)
}

// Earliest returns the earlier of steady and system time. Use it to test for expiry, so that a step
// forward expires nothing early.
func (c *Clock) Earliest() time.Time {
	steady, wall := c.Now(), c.read()
	if steady.Before(wall) {
		return steady
	}
	return wall.Round(0)
}

// Latest returns the later of steady and system time. Use it to compute an expiry, which others may
// compare with another clock, or this program after a restart.
func (c *Clock) Latest() time.Time {
	steady, wall := c.Now(), c.read()
	if steady.After(wall) {
		return steady
	}
	return wall.Round(0)
}

func (c *Clock) read() time.Time {
	if c.Wall == nil {
		return time.Now()
	}
	return c.Wall()
}
