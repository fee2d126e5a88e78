package originals

import (
	"fmt"
	"log/slog"
)

// Options is what Open needs beside the settings.
type Options struct {
	Settings

	Base string       // where a relative file:DIR starts: the directory of the configuration file
	Home string       // what ~ stands for
	Log  *slog.Logger // nil discards

	NoSweep bool // see FileOptions
}

// Open makes the store that the settings ask for. A store on disk is opened, not just named: a directory that
// cannot be made or written is an error here, not at the first Put.
func Open(o Options) (StoreCloser, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	where, err := parseURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	if where.dir == "" {
		return WithReports(&Memory{MaxBytes: o.MaxBytes, TTL: o.TTL(), DropOldest: o.WhenFull == WhenFullOldest}, o.Log), nil
	}
	dir, err := where.resolve(o.Base, o.Home)
	if err != nil {
		return nil, fmt.Errorf("open store of originals: %w", err)
	}
	f, err := OpenFile(FileOptions{Dir: dir, MaxBytes: o.MaxBytes, TTL: o.TTL(), DropOldest: o.WhenFull == WhenFullOldest, NoSweep: o.NoSweep, Log: o.Log})
	if err != nil {
		return nil, err
	}
	if o.PutTimeoutMS == 0 {
		return WithReports(f, o.Log), nil
	}
	return WithReports(WithPutTimeout(f, o.PutTimeout()), o.Log), nil
}

// Dir is the directory of a store on disk; not ok for any other store.
func (o Options) Dir() (dir string, ok bool) {
	where, err := parseURL(o.URL)
	if err != nil || where.dir == "" {
		return "", false
	}
	dir, err = where.resolve(o.Base, o.Home)
	return dir, err == nil
}
