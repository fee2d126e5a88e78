package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Variable is the environment variable that names the file if no flag does.
const Variable = "SECATEUR_CONFIG"

// FindOptions are the places to look for a configuration.
type FindOptions struct {
	Flag   string                           // --config; "": not given
	Lookup func(name string) (string, bool) // the environment; nil: empty
	// A working directory to search; "": none, for programs that an editor starts anywhere.
	Dir     string
	UserDir string // the user's configuration directory; "": none
	Stat    func(path string) (fs.FileInfo, error)
}

// Find returns the file to load: the one from the flag, else from the environment, else the first
// of secateur.toml and secateur.json in Dir, else in UserDir/secateur. A named file need not exist;
// loading reports that. If ok is false, no file exists and the built-in default applies. An error
// means that a file exists but cannot be examined.
func Find(o FindOptions) (path string, ok bool, err error) {
	if o.Flag != "" {
		return o.Flag, true, nil
	}
	if o.Lookup != nil {
		if path, _ := o.Lookup(Variable); path != "" {
			return path, true, nil
		}
	}
	var places []string
	if o.Dir != "" {
		places = append(places, o.Dir)
	}
	if o.UserDir != "" {
		places = append(places, filepath.Join(o.UserDir, "secateur"))
	}
	for _, dir := range places {
		for _, name := range []string{"secateur.toml", "secateur.json"} {
			path := filepath.Join(dir, name)
			info, err := o.Stat(path)
			switch {
			case err == nil && !info.IsDir():
				return path, true, nil
			case err != nil && !isAbsent(err):
				return "", false, err
			}
		}
	}
	return "", false, nil
}

// isAbsent reports that nothing is there, also if a part of the path is missing or no directory.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
