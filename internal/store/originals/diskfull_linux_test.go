package originals_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
)

const tinyDisk = "ORIGINALS_TEST_TINY_DISK"

// The disk itself is full, or cannot be written. The test uses a real file system of two megabytes,
// mounted in a separate process.
func TestDiskIsFull(t *testing.T) {
	if dir := os.Getenv(tinyDisk); dir != "" {
		if err := syscall.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { checkTinyDisk(t, filepath.Join(dir, "full")) })
		f := openFile(t, filepath.Join(dir, "read only"))
		keep(t, f, "text")
		if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		checkReadOnlyDisk(t, f, filepath.Join(dir, "read only"))
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestDiskIsFull$", "-test.count=1")
	cmd.Env = append(os.Environ(), tinyDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		if os.Getenv("CI") != "" {
			t.Fatalf("no namespace to mount a tiny disk in: %v", err)
		}
		t.Skipf("no namespace to mount a tiny disk in: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func checkTinyDisk(t *testing.T, dir string) {
	t.Helper()
	f := openFile(t, dir)
	const size = 100_000
	var kept int
	for ; ; kept++ {
		if _, err := f.Put(t.Context(), "", originalstest.Noise(uint64(kept), size)); err != nil {
			if !errors.Is(err, originals.ErrFull) {
				t.Errorf("Put on a full disk: err = %v, want ErrFull", err)
			}
			break
		}
	}
	if kept < 10 || kept > 21 {
		t.Errorf("%d texts of %d bytes fit on two megabytes", kept, size)
	}
	for i := range kept {
		wantKept(t, f, originalstest.Noise(uint64(i), size))
	}
	if s := f.Stats(); s.Count != kept || s.Corrupt != 0 || !s.Full || !s.DiskFull || !strings.Contains(s.Hint(), "disk") {
		t.Errorf("Stats = %+v, want %d kept and a full disk", s, kept)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".put-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	time.Sleep(2 * originalstest.TTL)
	keep(t, f, originalstest.Noise(1000, size)) // expired files free disk space too
	if s := f.Stats(); s.Full || s.DiskFull {
		t.Errorf("Stats = %+v with room on the disk", s)
	}
}

func checkReadOnlyDisk(t *testing.T, f *originals.File, dir string) {
	t.Helper()
	wantKept(t, f, "text")
	for _, text := range []string{"text", "another"} {
		if _, err := f.Put(t.Context(), "", text); !errors.Is(err, originals.ErrUnavailable) {
			t.Errorf("Put of %q: err = %v, want ErrUnavailable", text, err)
		}
	}
	if _, err := originals.OpenFile(originals.FileOptions{Dir: dir}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("OpenFile: err = %v, want one that says that nothing can be written there", err)
	}
}
