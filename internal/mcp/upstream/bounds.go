package upstream

import (
	"reflect"
	"time"
)

// Bounds are what may change while an Upstream runs. But for Settings they are as in Options.
type Bounds struct {
	ResponseTimeout time.Duration
	LongString      int
	MaxMessageBytes int
	HealthInterval  time.Duration
	HealthTimeout   time.Duration

	// Settings are the server's, of which only those count that do not concern its process, see SameProcess. Without an
	// id they stay as they are.
	Settings Settings
}

// SameProcess reports whether a server that is configured anew is the same process, or the same connection to a URL: what has changed can
// change while it runs.
func (s Settings) SameProcess(other Settings) bool {
	return reflect.DeepEqual(s.with(Settings{}), other.with(Settings{}))
}

// with are the settings with what can change while a server runs taken from others.
func (s Settings) with(other Settings) Settings {
	s.StartupTimeout, s.ShutdownGrace, s.ResponseTimeout = other.StartupTimeout, other.ShutdownGrace, other.ResponseTimeout
	s.Mask, s.MaskExempt = other.Mask, other.MaskExempt
	return s
}

// SetBounds has calls from now on bound by these.
func (u *Upstream) SetBounds(b Bounds) {
	setDefault(&b.ResponseTimeout, defaultResponseTimeout)
	setDefault(&b.MaxMessageBytes, defaultMessageBytes)
	setDefault(&b.HealthTimeout, defaultHealthTimeout)
	if b.Settings.ID == "" {
		b.Settings = u.Settings()
	}
	b.Settings = u.opt.Settings.with(b.Settings)
	b.ResponseTimeout = orDefault(b.Settings.ResponseTimeout, b.ResponseTimeout)
	u.bounds.Store(&b)
	if p := u.newest.Load(); p != nil {
		p.SetGrace(u.shutdownGrace())
	}
	select {
	case u.rebound <- struct{}{}:
	default: // it is about to be seen
	}
}

// Settings are what the server is configured with.
func (u *Upstream) Settings() Settings {
	if b := u.bounds.Load(); b != nil {
		return b.Settings
	}
	return u.opt.Settings
}

// shutdownGrace is between the steps of ending a child.
func (u *Upstream) shutdownGrace() time.Duration {
	return orDefault(u.Settings().ShutdownGrace, DefaultShutdownGrace)
}

// maxMessage is how many bytes a message may have.
func (u *Upstream) maxMessage() int { return u.bounds.Load().MaxMessageBytes }

const (
	defaultMessageBytes  = 32 << 20
	defaultHealthTimeout = 5 * time.Second
)

const defaultResponseTimeout = 30 * time.Second

// timeout is how long a call may take without a sign of progress.
func (u *Upstream) timeout() time.Duration { return u.bounds.Load().ResponseTimeout }
