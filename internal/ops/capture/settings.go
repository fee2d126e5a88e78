package capture

import (
	"errors"
	"fmt"
	"time"
)

// Settings say how much is kept. The zero value keeps nothing.
type Settings struct {
	Bytes int           `toml:"bytes"` // of each request and response; 0: off
	TTL   time.Duration `toml:"ttl_s"` // how long
}

// Default is off, with ten minutes for when it is enabled.
func Default() Settings { return Settings{TTL: 10 * time.Minute} }

const (
	mostBytes = 64 << 10
	mostTTL   = 24 * time.Hour
)

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	if s.Bytes < 0 || s.Bytes > mostBytes {
		errs = append(errs, fmt.Errorf("bytes: %d is not between 0 and %d", s.Bytes, mostBytes))
	}
	if s.TTL < time.Second || s.TTL > mostTTL {
		errs = append(errs, errors.New("ttl_s: not between 1 second and 86400"))
	}
	return errors.Join(errs...)
}
