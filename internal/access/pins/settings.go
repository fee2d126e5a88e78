package pins

import "fmt"

// Settings is the section [pins].
type Settings struct {
	Mode string `toml:"mode"` // off | report | strict
}

// The modes.
const (
	ModeOff    = "off"
	ModeReport = "report" // log changes
	ModeStrict = "strict" // also hold new and changed items back until approved
)

// Default logs changes.
func Default() Settings { return Settings{Mode: ModeReport} }

// Validate reports every mistake.
func (s Settings) Validate() error {
	switch s.Mode {
	case ModeOff, ModeReport, ModeStrict:
		return nil
	}
	return fmt.Errorf("mode: %q is none of %s, %s, %s", s.Mode, ModeOff, ModeReport, ModeStrict)
}
