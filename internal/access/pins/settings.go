package pins

import "fmt"

// Settings are the section [pins].
type Settings struct {
	Mode string `toml:"mode"` // off | report | strict
}

// The modes.
const (
	ModeOff    = "off"
	ModeReport = "report" // changes are told
	ModeStrict = "strict" // and what is new or has changed is held back until it is approved
)

// Default tells of changes.
func Default() Settings { return Settings{Mode: ModeReport} }

// Validate reports every mistake.
func (s Settings) Validate() error {
	switch s.Mode {
	case ModeOff, ModeReport, ModeStrict:
		return nil
	}
	return fmt.Errorf("mode: %q is none of %s, %s, %s", s.Mode, ModeOff, ModeReport, ModeStrict)
}
