package app

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"secateur/internal/config"
)

const fullDisk = "APP_TEST_FULL_DISK"

// A full disk does not stop the program: its store is in memory at the first start, and later
// /readyz and the log say what to do about the disk. The test uses a real file system of one
// megabyte, mounted in a separate process.
func TestAFullDiskIsSurvived(t *testing.T) {
	if dir := os.Getenv(fullDisk); dir != "" {
		if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Fatal(err)
		}
		checkFullDisk(t, dir)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestAFullDiskIsSurvived$", "-test.count=1")
	cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
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

func checkFullDisk(t *testing.T, dir string) {
	t.Helper()
	fill := func() (free func()) {
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("filling the disk: %v", err)
		}
		return func() { _ = os.Remove(ballast) }
	}
	begin := func(state, text string) (a *App, log *lockedBuffer) {
		cfg, mistakes := config.Load("c.toml", []byte(text), config.Options{})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		log = &lockedBuffer{}
		a, err := New(Options{Config: cfg, StateDir: filepath.Join(dir, state), Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		return a, log
	}

	free := fill()
	for state, text := range map[string]string{
		"default": "", "memory": "[store]\nurl = \"memory:\"\n", "file": "[store]\nurl = \"file:" + dir + "/chosen\"\n",
	} {
		a, log := begin(state, text)
		if kind := a.store.Stats().Kind; kind != "memory" {
			t.Errorf("%s: the store is a %s", state, kind)
		}
		if said := log.take(); strings.Contains(said, "in memory") != (state != "memory") {
			t.Errorf("%s: the log says %s", state, said)
		}
		if err := a.close(); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	free()

	a, log := begin("later", "")
	free = fill()
	if _, err := a.store.Put(t.Context(), "", strings.Repeat("a text. ", 10000)); err == nil {
		t.Error("a text is kept on a full disk")
	}
	answer := serve(servedBy(t, a), hung{http.MethodGet, "/readyz", ""}, nil).Body.String()
	if !strings.Contains(answer, `"state": "full"`) || !strings.Contains(answer, "free space on the disk") {
		t.Errorf("/readyz: %s", answer)
	}
	if said := log.take(); !strings.Contains(said, "free space on the disk") || strings.Contains(said, "max_bytes, or") {
		t.Errorf("the log: %s", said)
	}
	free()
	if _, err := a.store.Put(t.Context(), "", "a short text"); err != nil {
		t.Error(err)
	}
	if state := a.storeState(); state.State != "ok" || state.Hint != "" {
		t.Errorf("with room on the disk: %+v", state)
	}
}
