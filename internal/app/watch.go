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

// quietTime is how long a file must not change before it counts as complete (debounce): editors
// write in several steps.
const quietTime = 200 * time.Millisecond

// fileMark identifies one state of a file.
type fileMark struct {
	target   string // where links lead; "": the file is missing
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

// watchFile calls changed when a file has changed and then been quiet for a while, until ctx is
// done. It watches the directory of the path and the directory of its target. Editors replace the
// file, and a Kubernetes ConfigMap is a link to a link of which the second is replaced. ready is
// called once changes are seen; nil: none.
func watchFile(ctx context.Context, path string, quiet time.Duration, ready, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	defer watcher.Close()
	watch := func() error {
		_ = watcher.Add(filepath.Dir(markOf(path).target)) // the target may just be gone
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
	defer settled.Stop() // fires once at the start: the file may have changed since it was loaded
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-watcher.Events: // of any file there, possibly our links
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
