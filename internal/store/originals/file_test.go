package originals_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
)

func TestFileSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	f := openFile(t, dir)
	texts := []string{"", "small", strings.Repeat("large ", 100_000), originalstest.Noise(1, 50_000)}
	for _, text := range texts {
		keep(t, f, text)
	}
	before := f.Stats()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = openFile(t, dir)
	for _, text := range texts {
		wantKept(t, f, text)
	}
	if after := f.Stats(); after != before {
		t.Errorf("Stats after a restart = %+v, want as before: %+v", after, before)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "originals")
	f := openFile(t, dir)
	keep(t, f, "text")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenDirectoryIsReported(t *testing.T) {
	for _, c := range []struct {
		rule   string
		mode   os.FileMode
		warned bool
	}{
		{"a directory for the user alone is as it should be", 0o700, false},
		{"one that others can read is reported", 0o755, true},
		{"one that others can write is reported", 0o777, true},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		var logged bytes.Buffer
		f, err := originals.OpenFile(originals.FileOptions{Dir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil))})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := strings.Contains(logged.String(), "open to other users"); got != c.warned {
			t.Errorf("%s: logged %q", c.rule, logged.String())
		}
	}
}

func TestOpenFileRefuses(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for rule, path := range map[string]string{
		"a relative directory":            "originals",
		"no directory":                    "",
		"a file":                          plain,
		"a directory below a file":        filepath.Join(plain, "originals"),
		"a place where nothing is stored": "/proc/originals",
	} {
		if f, err := originals.OpenFile(originals.FileOptions{Dir: path}); err == nil {
			f.Close()
			t.Errorf("%s: no error", rule)
		}
	}
}

func TestDamagedFileIsSetAside(t *testing.T) {
	text := strings.Repeat("a text that is long enough to be compressed\n", 1000)
	whole := originals.Encode("", text)
	small := originals.Encode("", "small")
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1
		return b
	}
	for _, c := range []struct {
		rule    string
		text    string
		content []byte
	}{
		{"emptied", text, nil},
		{"cut off in its header", text, whole[:20]},
		{"cut off after its header", text, whole[:40]},
		{"cut off near its end", text, whole[:len(whole)-1]},
		{"continued", text, append(bytes.Clone(whole), 'x')},
		{"filled with zeros", text, make([]byte, len(whole))},
		{"a bit changed in the magic", text, flip(whole, 0)},
		{"a bit changed in the version", text, flip(whole, 4)},
		{"a bit changed in the tenant", text, flip(whole, 8)},
		{"a bit changed in the length", text, flip(whole, 16)},
		{"a bit changed in the text", text, flip(whole, len(whole)/2)},
		{"a bit changed in a text that is not compressed", "small", flip(small, len(small)-13)},
		{"another text's file", text, small},
	} {
		t.Run(c.rule, func(t *testing.T) {
			dir := t.TempDir()
			var logged bytes.Buffer
			f, err := originals.OpenFile(originals.FileOptions{Dir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			id := keep(t, f, c.text)
			if err := os.WriteFile(originals.Path(f, id), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrNotFound) {
					t.Errorf("Get: err = %v, want ErrNotFound", err)
				}
			}
			if s := f.Stats(); s.Corrupt != 1 || s.Count != 0 {
				t.Errorf("Stats = %+v, want 1 damaged and none kept", s)
			}
			if n := strings.Count(logged.String(), "damaged original set aside"); n != 1 {
				t.Errorf("reported %d times: %s", n, logged.String())
			}
			originals.Scan(t.Context(), f)
			got, err := os.ReadFile(filepath.Join(dir, "corrupt", id))
			if err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("set aside: %d bytes, %v, want %d bytes", len(got), err, len(c.content))
			}
			keep(t, f, c.text)
			wantKept(t, f, c.text)
		})
	}
}

func TestReaderNeverSeesHalfAFile(t *testing.T) {
	// The test removes files behind the store's back, so allow room for all that it believes to
	// exist.
	f, err := originals.OpenFile(originals.FileOptions{Dir: t.TempDir(), MaxBytes: roomForAll})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := originalstest.Noise(1, 200_000)
	path := originals.Path(f, f.ID("", text))
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if got, err := f.Get(t.Context(), "", f.ID("", text)); err == nil && got != text {
					t.Error("Get gives half a text")
				}
			}
		}
	})
	for range 200 {
		keep(t, f, text)
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	close(done)
	reader.Wait()
	if s := f.Stats(); s.Corrupt != 0 {
		t.Errorf("a file was seen half written %d times", s.Corrupt)
	}
}

// Between finding a damaged file and moving it aside, another process may have replaced it.
func TestReplacedFileIsNotSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := openFile(t, dir)
		id := keep(t, f, "text")
		path := originals.Path(f, id)
		good, aside := path+".good", filepath.Join(dir, "corrupt", id)
		if err := errors.Join(os.Rename(path, good), os.WriteFile(path, []byte("damaged"), 0o600)); err != nil {
			t.Fatal(err)
		}
		release := originals.HoldLock(t, f)
		var get sync.WaitGroup
		get.Go(func() {
			if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrNotFound) {
				t.Errorf("Get of a damaged file: err = %v, want ErrNotFound", err)
			}
		})
		synctest.Wait() // the damage was found; moving the file aside waits for the lock
		if err := os.Rename(good, path); err != nil {
			t.Fatal(err)
		}
		release()
		get.Wait()
		wantKept(t, f, "text")
		if _, err := os.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want nothing there", aside, err)
		}
	})
}

// Put must not rely on a file that was damaged while no process ran.
func TestPutReplacesADamagedFile(t *testing.T) {
	text := strings.Repeat("text ", 10_000)
	for rule, damage := range map[string]func([]byte) []byte{
		"emptied":      func([]byte) []byte { return nil },
		"cut off":      func(b []byte) []byte { return b[:len(b)/2] },
		"zeros at end": func(b []byte) []byte { return append(b[:len(b)-8], make([]byte, 8)...) },
		"one bit": func(b []byte) []byte {
			b[len(b)-20] ^= 1 // within the text: the trailer follows
			return b
		},
	} {
		dir := t.TempDir()
		f := openFile(t, dir)
		path := originals.Path(f, keep(t, f, text))
		f.Close()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
			t.Fatal(err)
		}
		f = openFile(t, dir)
		keep(t, f, text)
		t.Log(rule)
		wantKept(t, f, text)
	}
}

func TestFileOfANewerVersionIsLeftAlone(t *testing.T) {
	f := openFile(t, t.TempDir())
	id := keep(t, f, "text")
	newer := originals.EncodeVersion("", "text", 3)
	if err := os.WriteFile(originals.Path(f, id), newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Get: err = %v, want ErrUnavailable", err)
	}
	if got, err := os.ReadFile(originals.Path(f, id)); err != nil || !bytes.Equal(got, newer) {
		t.Errorf("the file is now %q, %v", got, err)
	}
}

func TestTwoStoresShareADirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, b := openFile(t, dir), openFile(t, dir)
		id := keep(t, a, "text")
		time.Sleep(originalstest.TTL - time.Second)
		if got, err := b.Get(t.Context(), "", id); err != nil || got != "text" { // renews for both
			t.Fatalf("Get from the other store = %q, %v", got, err)
		}
		time.Sleep(originalstest.TTL - time.Second)
		wantKept(t, a, "text")

		// The limit holds for both together: each counts what the other added.
		half := originalstest.MaxBytes / 2
		keep(t, a, originalstest.Noise(1, half))
		time.Sleep(time.Minute)
		keep(t, b, "anything makes the other look again")
		synctest.Wait()
		if _, err := b.Put(t.Context(), "", originalstest.Noise(2, half)); !errors.Is(err, originals.ErrFull) {
			t.Errorf("Put of the other half and more: err = %v, want ErrFull", err)
		}
		wantKept(t, a, originalstest.Noise(1, half))
	})
}

// Each process may have another TTL. The longest counts.
func TestShorterTTLTakesNothingAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		long := openFile(t, dir)
		id := keep(t, long, "text")
		brief, err := originals.OpenFile(originals.FileOptions{Dir: dir, TTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer brief.Close()
		keep(t, brief, "text")
		if _, err := brief.Get(t.Context(), "", id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(originalstest.TTL - time.Minute)
		originals.Scan(t.Context(), brief)
		wantKept(t, long, "text")
	})
}

func TestExpiredFilesLeaveTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := openFile(t, dir)
		var old []string
		for i := range 200 {
			old = append(old, originals.Path(f, keep(t, f, originalstest.Noise(uint64(i), 10))))
		}
		time.Sleep(2 * originalstest.TTL)
		keep(t, f, "any Put makes it look again")
		synctest.Wait()
		for _, path := range old {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s is still there", path)
			}
		}
		if s := f.Stats(); s.Count != 1 || s.Bytes != 4096 {
			t.Errorf("Stats = %+v, want one original in one block", s)
		}
	})
}

// Between finding an expired file and removing it, another process may renew it.
func TestRenewalWinsOverRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFile(t, t.TempDir())
		path := originals.Path(f, keep(t, f, "text"))
		time.Sleep(2 * originalstest.TTL)

		release := originals.HoldLock(t, f) // another process is about to renew
		var sweep sync.WaitGroup
		sweep.Go(func() { originals.Scan(t.Context(), f) })
		synctest.Wait() // the sweep has found the expired file, and waits for the lock
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(originalstest.TTL)); err != nil {
			t.Fatal(err)
		}
		release()
		sweep.Wait()
		wantKept(t, f, "text")
	})
}

// A process stopped while holding the lock must not block the others.
func TestLockThatIsNeverGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := openFile(t, dir)
		id := keep(t, f, "text")
		release := originals.HoldLockAlone(t, f)
		defer release()
		if got, err := f.Get(t.Context(), "", id); err != nil || got != "text" {
			t.Errorf("Get = %q, %v, want the text, although it cannot be renewed", got, err)
		}
		if _, err := f.Put(t.Context(), "", "another"); !errors.Is(err, originals.ErrUnavailable) {
			t.Errorf("Put: err = %v, want ErrUnavailable", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := f.Put(ctx, "", "text"); !errors.Is(err, originals.ErrUnavailable) || time.Since(start) > time.Second {
			t.Errorf("Put with a deadline: err = %v after %v, want ErrUnavailable at the deadline", err, time.Since(start))
		}
		left, err := filepath.Glob(filepath.Join(dir, "*", ".put-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestLeftoversAreSweptWhenOld(t *testing.T) {
	dir := t.TempDir()
	f := openFile(t, dir)
	shard := filepath.Dir(originals.Path(f, keep(t, f, "text")))
	leftover := func(dir, name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		rule, path string
		stays      bool
	}{
		{"half written by a process that died", leftover(shard, ".put-1", time.Hour), false},
		{"being written now", leftover(shard, ".put-2", time.Minute), true},
		{"a probe of a process that died", leftover(dir, ".put-3", time.Hour), false},
		{"somebody else's file", leftover(shard, "README", 1000*time.Hour), true},
		{"somebody else's file at the top", leftover(dir, "notes.txt", 1000*time.Hour), true},
		{"a file named almost like ours", leftover(shard, "prn_X", 1000*time.Hour), true},
	} {
		originals.Scan(t.Context(), f)
		if _, err := os.Stat(c.path); (err == nil) != c.stays {
			t.Errorf("%s: Stat: %v, want it to stay: %v", c.rule, err, c.stays)
		}
	}
}

func TestDirectoryIsTakenAway(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "sub", "originals")
	f := openFile(t, dir)
	id := keep(t, f, "text")

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrNotFound) {
		t.Errorf("Get without a directory: err = %v, want ErrNotFound", err)
	}
	keep(t, f, "text") // creates the directory again
	wantKept(t, f, "text")

	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put without a parent directory: err = %v, want ErrUnavailable", err)
	}
	if err := os.WriteFile(filepath.Dir(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put with a file in place of a directory: err = %v, want ErrUnavailable", err)
	}
	if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Get with a file in place of a directory: err = %v, want ErrUnavailable", err)
	}
	originals.Scan(t.Context(), f)
	if s := f.Stats(); s.Refused != 2 {
		t.Errorf("Stats = %+v, want 2 refused", s)
	}
}

func TestFileAfterClose(t *testing.T) {
	f := openFile(t, t.TempDir())
	id := keep(t, f, "text")
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := f.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put after Close: err = %v, want ErrUnavailable", err)
	}
	if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Get after Close: err = %v, want ErrUnavailable", err)
	}
}

func keep(t *testing.T, s originals.Store, text string) string {
	t.Helper()
	id, err := s.Put(t.Context(), "", text)
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(text), err)
	}
	return id
}

func wantKept(t *testing.T, s originals.Store, text string) {
	t.Helper()
	if got, err := s.Get(t.Context(), "", s.ID("", text)); err != nil || got != text {
		t.Errorf("Get = %d bytes, %v, want %d bytes", len(got), err, len(text))
	}
}

// A copy of the directory has new mtimes. The expiries in the files count.
func TestACopiedStoreKeepsItsOriginals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := openFile(t, dir)
		renewed, left := keep(t, f, "renewed"), keep(t, f, "left")
		time.Sleep(originalstest.TTL / 2)
		if _, err := f.Get(t.Context(), "", renewed); err != nil {
			t.Fatal(err)
		}
		f.Close()
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		// file times come from the machine's clock, not from the test's
		for _, id := range []string{renewed, left} {
			if err := os.Chtimes(filepath.Join(copied, id[4:5], id), time.Time{}, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		f = openFile(t, copied)
		for _, id := range []string{renewed, left} {
			if _, err := f.Get(t.Context(), "", id); err != nil {
				t.Errorf("Get from the copy: %v", err)
			}
		}
		time.Sleep(originalstest.TTL + time.Minute)
		if _, err := f.Get(t.Context(), "", left); !errors.Is(err, originals.ErrExpired) || !errors.Is(err, originals.ErrNotFound) {
			t.Errorf("Get after its time: err = %v, want ErrExpired", err)
		}
		originals.Scan(t.Context(), f)
		if s := f.Stats(); s.Count != 0 {
			t.Errorf("%d originals left after their time", s.Count)
		}
	})
}

func TestADamagedOriginalIsCalledSo(t *testing.T) {
	f := openFile(t, t.TempDir())
	id := keep(t, f, "text")
	if err := os.WriteFile(originals.Path(f, id), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.Get(t.Context(), "", id); !errors.Is(err, originals.ErrDamaged) {
			t.Errorf("Get: err = %v, want ErrDamaged", err)
		}
	}
}
