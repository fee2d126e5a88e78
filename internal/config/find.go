package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Variable names the file where no flag does.
const Variable = "SECATEUR_CONFIG"

// FindOptions are where a configuration may be found.
type FindOptions struct {
	Flag    string                           // --config; "": not given
	Lookup  func(name string) (string, bool) // the environment; nil: empty
	Dir     string                           // a working directory to look in; "": none, for what an editor starts wherever it likes
	UserDir string                           // the user's configuration directory; "": none
	Stat    func(path string) (fs.FileInfo, error)
}

// Find says which file to load: the one the flag names, else the one the environment names, else the first of
// secateur.toml and secateur.json in Dir, else in UserDir/secateur. A named file need not exist: loading it says so. With
// ok false there is none, and the built-in default runs. An error means that a file is there but cannot be looked at.
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

// isAbsent reports that nothing is there, be it that a part of the way is missing or no directory.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
