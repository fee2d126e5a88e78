package upstream

import (
	"reflect"
	"time"
)

// Bounds are the options that may change while an Upstream runs. Except for Settings, they are as
// in Options.
type Bounds struct {
	ResponseTimeout time.Duration
	LongString      int
	MaxMessageBytes int
	HealthInterval  time.Duration
	HealthTimeout   time.Duration

	// Settings are the server's. Only fields that do not affect its process are used; see
	// SameProcess. If the ID is empty, the current settings stay.
	Settings Settings
}

// SameProcess reports whether new settings keep the same process, or the same connection to a URL.
// In that case all differences can be applied while it runs.
func (s Settings) SameProcess(other Settings) bool {
	return reflect.DeepEqual(s.with(Settings{}), other.with(Settings{}))
}

// with returns the settings with the fields that can change at run time taken from other.
func (s Settings) with(other Settings) Settings {
	s.StartupTimeout, s.ShutdownGrace, s.ResponseTimeout = other.StartupTimeout, other.ShutdownGrace, other.ResponseTimeout
	s.Mask, s.MaskExempt = other.Mask, other.MaskExempt
	s.Tools, s.ExcludeTools = other.Tools, other.ExcludeTools
	return s
}

// SetBounds applies new bounds to future calls.
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
	default: // a signal is already pending
	}
}

// Settings returns the server's current configuration.
func (u *Upstream) Settings() Settings {
	if b := u.bounds.Load(); b != nil {
		return b.Settings
	}
	return u.opt.Settings
}

// shutdownGrace is the time between the steps of stopping a child.
func (u *Upstream) shutdownGrace() time.Duration {
	return orDefault(u.Settings().ShutdownGrace, DefaultShutdownGrace)
}

// maxMessage returns the maximum message size in bytes.
func (u *Upstream) maxMessage() int { return u.bounds.Load().MaxMessageBytes }

const (
	defaultMessageBytes  = 32 << 20
	defaultHealthTimeout = 5 * time.Second
)

const defaultResponseTimeout = 30 * time.Second

// timeout returns how long a call may take without a sign of progress.
func (u *Upstream) timeout() time.Duration { return u.bounds.Load().ResponseTimeout }
