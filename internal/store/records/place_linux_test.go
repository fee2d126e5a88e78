package records_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Anything else in a record's path does not block, is not followed, and counts as no record.
func TestFileTakesWhatIsNoFileForNone(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for rule, replace := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to a record of the same key": func(path string) error {
			if err := os.Rename(path, elsewhere); err != nil {
				return err
			}
			return os.Symlink(elsewhere, path)
		},
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a file larger than all there is room for": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40) // sparse
		},
	} {
		t.Run(rule, func(t *testing.T) {
			dir := t.TempDir()
			f := openFile(t, dir, 0, 0)
			put(t, f, "k", "v")
			path := files(t, dir)[0]
			if rule != "a link to a record of the same key" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			wantNone(t, f, "k")
			if rule == "a folder" {
				return // a file cannot replace it
			}
			put(t, f, "k", "again")
			want(t, f, "k", "again")
		})
	}
}
