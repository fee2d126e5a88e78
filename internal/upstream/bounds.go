package upstream

import "time"

// Bounds are what may change while an Upstream runs.
type Bounds struct {
	ResponseTimeout time.Duration // as in Options
	LongString      int           // as in Options
}

// SetBounds has calls from now on bound by these.
func (u *Upstream) SetBounds(b Bounds) {
	setDefault(&b.ResponseTimeout, defaultResponseTimeout)
	b.ResponseTimeout = seconds(u.opt.Settings.ResponseTimeout, b.ResponseTimeout)
	u.bounds.Store(&b)
}

const defaultResponseTimeout = 30 * time.Second

// timeout is how long a call may take without a sign of progress.
func (u *Upstream) timeout() time.Duration { return u.bounds.Load().ResponseTimeout }
