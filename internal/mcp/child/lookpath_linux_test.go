package child

import (
	"os"
	"path/filepath"
	"testing"
)

// A program is never taken from the current directory, however PATH names it.
func TestRelativePlacesInPATHAreSkipped(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, bin} {
		if err := os.WriteFile(filepath.Join(at, "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, path := range []string{"bin", ".", "", ":bin", "./bin:", "/nowhere:bin"} {
		if got, err := lookPath("tool", []string{"PATH=" + path}); err == nil {
			t.Errorf("PATH %q: found %s", path, got)
		}
	}
	if got, err := lookPath("tool", []string{"PATH=bin:" + bin}); err != nil || got != filepath.Join(bin, "tool") {
		t.Errorf("behind a relative place: %q, %v", got, err)
	}
}
