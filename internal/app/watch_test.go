package app

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/wire"
)

// listeners receives list changes.
type listeners chan string

func (l listeners) ListChanged(list catalog.List)                           { l <- list.Member() }
func (l listeners) Notified(string, *wire.Message)                          {}
func (l listeners) Requested(context.Context, string, *wire.Message) []byte { return nil }

// Every way to replace a file is noticed, and the file is read whole.
func TestWatchFile(t *testing.T) {
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare, change func(t *testing.T, dir, path string)
	}{
		"written in place": {
			func(t *testing.T, _, path string) { t.Helper(); write(t, path, "old") },
			func(t *testing.T, _, path string) { t.Helper(); write(t, path, "new") },
		},
		"another renamed onto it": {
			func(t *testing.T, _, path string) { t.Helper(); write(t, path, "old") },
			func(t *testing.T, dir, path string) {
				t.Helper()
				write(t, dir+"/.tmp", "new")
				must(t, os.Rename(dir+"/.tmp", path))
			},
		},
		"moved away, then made anew": {
			func(t *testing.T, _, path string) { t.Helper(); write(t, path, "old") },
			func(t *testing.T, dir, path string) {
				t.Helper()
				must(t, os.Rename(path, dir+"/backup~"))
				write(t, path, "new")
			},
		},
		"a ConfigMap": {
			func(t *testing.T, dir, path string) {
				t.Helper()
				must(t, os.Mkdir(dir+"/..1", 0o700))
				write(t, dir+"/..1/secateur.toml", "old")
				must(t, os.Symlink("..1", dir+"/..data"))
				must(t, os.Symlink("..data/secateur.toml", path))
			},
			func(t *testing.T, dir, _ string) {
				t.Helper()
				must(t, os.Mkdir(dir+"/..2", 0o700))
				write(t, dir+"/..2/secateur.toml", "new")
				must(t, os.Symlink("..2", dir+"/..tmp"))
				must(t, os.Rename(dir+"/..tmp", dir+"/..data"))
				must(t, os.RemoveAll(dir+"/..1"))
			},
		},
		"a link into another directory": {
			func(t *testing.T, dir, path string) {
				t.Helper()
				must(t, os.Mkdir(dir+"/elsewhere", 0o700))
				write(t, dir+"/elsewhere/real.toml", "old")
				must(t, os.Symlink("elsewhere/real.toml", path))
			},
			func(t *testing.T, dir, _ string) { t.Helper(); write(t, dir+"/elsewhere/real.toml", "new") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "secateur.toml")
			c.prepare(t, dir, path)
			ctx, cancel := context.WithCancel(t.Context())
			ready, seen := make(chan struct{}), make(chan string, 100)
			var watching sync.WaitGroup
			watching.Go(func() {
				err := watchFile(ctx, path, 50*time.Millisecond, func() { close(ready) }, func() {
					text, _ := os.ReadFile(path)
					seen <- string(text)
				})
				if err != nil {
					t.Error(err)
				}
			})
			<-ready
			if got := <-seen; got != "old" { // it may have changed since it was loaded
				t.Errorf("at first: %q", got)
			}
			write(t, dir+"/other", "noise")
			c.change(t, dir, path)
			for got := range seen {
				if got == "new" {
					break
				}
			}
			cancel()
			watching.Wait()
		})
	}
}
