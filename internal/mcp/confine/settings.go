package confine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Settings say what a server's process may touch.
type Settings struct {
	// package, files, offline or off; "": only the paths below
	Profile string `toml:"profile" json:"profile"`
	// paths that it may read, beside system directories and its own program
	Read []string `toml:"read" json:"read"`
	// paths that it may read and write
	Write []string `toml:"write" json:"write"`
	// TCP ports that it may connect to; nil: the profile's
	Net Net `toml:"net" json:"net"`
	// it may use Unix sockets, which lead out of the sandbox
	Sockets bool `toml:"sockets" json:"sockets"`
	// further processes and threads of the user; 0: DefaultProcesses
	Processes int `toml:"processes" json:"processes"`
	// open files of one process; 0: DefaultFiles
	Files int `toml:"files" json:"files"`
	// address space of one process in MiB; 0: no limit
	MemoryMB int `toml:"memory_mb" json:"memory_mb"`
}

// The profiles.
const (
	// own home directory, working directory, network
	ProfilePackage = "package"
	// the same, and the paths that its arguments name
	ProfileFiles = "files"
	// as files, without a network
	ProfileOffline = "offline"
	// no sandbox
	ProfileOff = "off"
)

// Profiles are the names of the profiles.
var Profiles = []string{ProfilePackage, ProfileFiles, ProfileOffline, ProfileOff}

// Defaults of Settings that are zero.
const (
	DefaultProcesses = 1024
	DefaultFiles     = 8192
)

// Net lists TCP ports. AnyPort means the whole network.
type Net []int

// AnyPort in a Net means that the network is not restricted.
const AnyPort = 0

// Words for a Net.
const (
	NetAny  = "any"
	NetNone = "none"
)

// SetShort reads "any" or "none".
func (n *Net) SetShort(word string) error {
	switch word {
	case NetAny:
		*n = Net{AnyPort}
	case NetNone:
		*n = Net{}
	default:
		return fmt.Errorf("%q is neither any nor none, nor a list of ports such as [443]", word)
	}
	return nil
}

// Any reports whether the network is not restricted.
func (n Net) Any() bool { return slices.Contains(n, AnyPort) }

// SetShort reads the name of a profile in the place of a table.
func (s *Settings) SetShort(word string) error {
	s.Profile = word
	return nil
}

// On reports whether there is a sandbox at all.
func (s *Settings) On() bool { return s != nil && s.Profile != ProfileOff }

// Ports returns the effective network.
func (s *Settings) Ports() Net {
	switch {
	case s.Net != nil:
		return s.Net
	case s.Profile == ProfilePackage || s.Profile == ProfileFiles:
		return Net{AnyPort}
	default:
		return nil
	}
}

// Validate reports every mistake as "key: text".
func (s Settings) Validate() error {
	var errs []error
	if s.Profile != "" && !slices.Contains(Profiles, s.Profile) {
		errs = append(errs, fmt.Errorf("profile: %q is none of %s", s.Profile, strings.Join(Profiles, ", ")))
	}
	if s.Profile == ProfileOff && (len(s.Read)+len(s.Write) > 0 || s.Net != nil) {
		errs = append(errs, errors.New("profile: off means no sandbox; take the other keys out"))
	}
	if s.Profile == ProfileOffline && len(s.Net) > 0 {
		errs = append(errs, errors.New(`net: the profile offline has no network; use the profile "files" with net`))
	}
	for i, port := range s.Net {
		if port < 0 || port > 65535 {
			errs = append(errs, fmt.Errorf("net[%d]: %d is not a port", i, port))
		}
	}
	for key, list := range map[string][]string{"read": s.Read, "write": s.Write} {
		for i, path := range list {
			if path == "" || strings.ContainsRune(path, 0) {
				errs = append(errs, fmt.Errorf("%s[%d]: is not a path", key, i))
			}
		}
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"processes", s.Processes}, {"files", s.Files}, {"memory_mb", s.MemoryMB}} {
		if n.value < 0 {
			errs = append(errs, fmt.Errorf("%s: %d is less than 0", n.key, n.value))
		}
	}
	if s.Files > 0 && s.Files < minFiles {
		errs = append(errs, fmt.Errorf("files: %d is less than %d; no program starts with that", s.Files, minFiles))
	}
	return errors.Join(errs...)
}

// minFiles is the least number of open files with which programs start.
const minFiles = 16
