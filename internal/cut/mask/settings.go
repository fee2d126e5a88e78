package mask

import (
	"errors"
	"fmt"
)

// Settings say what is cut and what is left of it.
type Settings struct {
	MaxChars  int `toml:"max_chars" json:"max_chars"`   // longer strings are cut
	HeadChars int `toml:"head_chars" json:"head_chars"` // length of the kept head
	TailChars int `toml:"tail_chars" json:"tail_chars"` // length of the kept tail
	// text between them; {orig} {head} {tail} {id} are filled in
	Marker string `toml:"marker" json:"marker"`
	// keep base64 of images, audio and resources whole
	ExemptMedia bool `toml:"exempt_media" json:"exempt_media"`
}

// Default returns the defaults.
func Default() Settings {
	return Settings{
		MaxChars:  4000,
		HeadChars: 2000,
		TailChars: 2000,
		Marker:    "\n... [KIMI_PROXY_OBSERVATION_MASKED original_chars={orig} head={head} tail={tail}] ...\n",
	}
}

// Validate reports every mistake, each with its key.
func (s Settings) Validate() error {
	var errs []error
	if s.MaxChars < 1 {
		errs = append(errs, fmt.Errorf("max_chars: %d is below 1", s.MaxChars))
	}
	if s.HeadChars < 0 {
		errs = append(errs, fmt.Errorf("head_chars: %d is negative", s.HeadChars))
	}
	if s.TailChars < 0 {
		errs = append(errs, fmt.Errorf("tail_chars: %d is negative", s.TailChars))
	}
	// Compare without a sum, which could overflow.
	if s.MaxChars >= 1 && s.HeadChars >= 0 && s.TailChars >= 0 && s.HeadChars > s.MaxChars-s.TailChars {
		errs = append(errs, fmt.Errorf("head_chars: %d and tail_chars %d are together more than max_chars %d",
			s.HeadChars, s.TailChars, s.MaxChars))
	}
	if _, err := parseMarker(s.Marker); err != nil {
		errs = append(errs, fmt.Errorf("marker: %w", err))
	}
	return errors.Join(errs...)
}
