package clock

import (
	"sync"
	"time"
)

// Clock runs on from the time of day at its first use and does not follow steps of the system's clock. While the machine sleeps it
// goes on. The zero value is ready; on systems other than Linux, which do not tell how long they have slept, it is the system's clock.
type Clock struct {
	Wall func() time.Time // the system's time of day; nil: time.Now

	once  sync.Once
	start time.Time // with the monotonic reading
	wall  time.Time // without
	slept time.Duration
}

// Now is the steady time: two of them are as far apart as the time that passed.
func (c *Clock) Now() time.Time {
	slept, known := sleptSoFar()
	if !known {
		return c.read()
	}
	c.once.Do(func() { c.start, c.wall, c.slept = time.Now(), c.read().Round(0), slept })
	return c.wall.Add(time.Since(c.start) + slept - c.slept)
}

// Earliest is the time of day as it may be at least: by it things expire, so that a step forward ends nothing before its time.
func (c *Clock) Earliest() time.Time {
	steady, wall := c.Now(), c.read()
	if steady.Before(wall) {
		return steady
	}
	return wall.Round(0)
}

// Latest is the time of day as it may be at most: from it lives are counted that others, or this program after a restart, may judge by another clock.
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
