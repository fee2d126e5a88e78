package originals_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"secateur/internal/store/originals"
)

func TestADirectoryThatIsNotOursAloneIsRefused(t *testing.T) {
	for _, c := range []struct {
		rule, want string
		prepare    func(dir string) error
	}{
		{"a folder that leads elsewhere", "is a symbolic link", func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "7")) }},
		{"a pipe in place of a folder", "is a named pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "A"), 0o600) }},
		{"a pipe in place of the lock", "is a named pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "lock"), 0o600) }},
		{"a link in place of the lock", "is a symbolic link", func(dir string) error { return os.Symlink("/dev/null", filepath.Join(dir, "lock")) }},
		{"another user's directory", "belongs to the user 4711", func(dir string) error { return os.Chown(dir, 4711, 4711) }},
		{"another user's folder in it", "belongs to the user 4711", func(dir string) error {
			shard := filepath.Join(dir, "0")
			return errors.Join(os.Mkdir(shard, 0o700), os.Chown(shard, 4711, 4711))
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			dir := t.TempDir()
			switch err := c.prepare(dir); {
			case errors.Is(err, fs.ErrPermission) && os.Getenv("CI") == "":
				t.Skip("only root can give a directory away")
			case err != nil:
				t.Fatal(err)
			}
			f, err := originals.OpenFile(originals.FileOptions{Dir: dir})
			if err == nil {
				_ = f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("OpenFile: %v, want an error that names the place and says %q", err, c.want)
			}
		})
	}
}

// While the store is open, a link or pipe replaces an original or its folder. It neither blocks nor
// is followed.
func TestPlacesThatChangeUnderWay(t *testing.T) {
	dir, text := t.TempDir(), strings.Repeat("text ", 100)
	f, err := originals.OpenFile(originals.FileOptions{Dir: dir})
	must(t, err)
	defer f.Close()
	id, err := f.Put(t.Context(), "", text)
	must(t, err)
	file := filepath.Join(dir, id[4:5], id)

	for name, replace := range map[string]func() error{
		"a pipe": func() error { return syscall.Mkfifo(file, 0o600) },
		"a link": func() error { return os.Symlink("/etc/passwd", file) },
	} {
		must(t, os.Remove(file))
		must(t, replace())
		if got, err := f.Get(t.Context(), "", id); err == nil {
			t.Errorf("%s in place of the original: Get = %.20q, want an error", name, got)
		}
		if _, err := f.Put(t.Context(), "", text); err != nil {
			t.Errorf("%s in place of the original: Put again: %v", name, err)
		}
		if got, err := f.Get(t.Context(), "", id); err != nil || got != text {
			t.Errorf("%s in place of the original: Get after Put = %.20q, %v", name, got, err)
		}
	}

	elsewhere := t.TempDir()
	must(t, os.RemoveAll(filepath.Dir(file)))
	must(t, os.Symlink(elsewhere, filepath.Dir(file)))
	if _, err := f.Put(t.Context(), "", text); err == nil {
		t.Error("Put through a folder that leads elsewhere: no error")
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("%d files were written elsewhere", len(left))
	}
}

func TestADamagedFileIsNoticedWhenItsTextIsPutAgain(t *testing.T) {
	dir, text := t.TempDir(), strings.Repeat("text ", 1000)
	f, err := originals.OpenFile(originals.FileOptions{Dir: dir})
	must(t, err)
	defer f.Close()
	id, err := f.Put(t.Context(), "", text)
	must(t, err)
	file := filepath.Join(dir, id[4:5], id)
	info, err := os.Stat(file)
	must(t, err)
	content, err := os.ReadFile(file)
	must(t, err)
	content[len(content)-1] ^= 1
	must(t, os.WriteFile(file, content, 0o600))
	must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	if _, err := f.Put(t.Context(), "", text); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Get(t.Context(), "", id); err != nil || got != text {
		t.Errorf("Get after the text was put again = %.20q, %v, want the text", got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
