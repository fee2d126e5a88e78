package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quietTime is how long a file must not change before it is taken to be whole (debounce): editors write in several steps.
const quietTime = 200 * time.Millisecond

// fileMark tells one state of a file from another.
type fileMark struct {
	target   string // where links lead; "": the file is not there
	modified time.Time
	size     int64
}

func markOf(path string) fileMark {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fileMark{}
	}
	info, err := os.Stat(target)
	if err != nil {
		return fileMark{}
	}
	return fileMark{target, info.ModTime(), info.Size()}
}

// watchFile calls changed, until ctx is done, whenever a file has become another and then been quiet for a while. What is watched is the
// directory that names the file and the one that it is in: editors put another file in its place, and a ConfigMap of Kubernetes is a link to
// a link, the second of which is replaced. Ready is called once changes are seen; nil: nobody has to know.
func watchFile(ctx context.Context, path string, quiet time.Duration, ready, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	defer watcher.Close()
	watch := func() error {
		_ = watcher.Add(filepath.Dir(markOf(path).target)) // it may just have gone
		return watcher.Add(filepath.Dir(path))
	}
	seen := markOf(path)
	if err := watch(); err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	if ready != nil {
		ready()
	}
	settled := time.NewTimer(0)
	defer settled.Stop() // fires once at the beginning: the file may have changed since it was loaded
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events: // of any file there; some of them are our links
			if now := markOf(path); now != seen {
				seen = now
				settled.Reset(quiet)
			}
		case err := <-watcher.Errors:
			if errors.Is(err, fs.ErrClosed) {
				return nil
			}
			settled.Reset(quiet) // events may have been lost
		case <-settled.C:
			_ = watch() // links may lead elsewhere now
			changed()
		}
	}
}
