package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"secateur/internal/store/atomicfile"
)

// left returns the names in a folder.
func left(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "file")
	for _, content := range []string{"first", "second, and longer", ""} {
		if err := atomicfile.Replace(path, []byte(content), content == ""); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("read %q, %v, want %q", got, err, content)
		}
	}
	for path, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want it its owner's alone", path, info.Mode(), err)
		}
	}
	if names := left(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("in its folder are %q, want the file alone", names)
	}
}

func TestAWriteThatFailsLeavesNothing(t *testing.T) {
	folder, no := t.TempDir(), errors.New("no")
	if err := os.WriteFile(filepath.Join(folder, "file"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := atomicfile.Write{Folder: folder, Prefix: ".put-", Place: func(temp string) error {
		if got, err := os.ReadFile(temp); string(got) != "new" {
			t.Errorf("it is placed with %q, %v", got, err)
		}
		return no
	}}
	if err := w.Do([]byte("new")); !errors.Is(err, no) {
		t.Errorf("Do = %v, want why it was not placed", err)
	}
	if names := left(t, folder); len(names) != 1 {
		t.Errorf("left are %q", names)
	}
	w.Folder = filepath.Join(folder, "none")
	if err := w.Do([]byte("new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	w.Make = func() error { return no }
	if err := w.Do([]byte("new")); !errors.Is(err, no) {
		t.Errorf("into a folder that cannot be made: %v", err)
	}
}
