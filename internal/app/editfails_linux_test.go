package app

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs do without the rights of root, so that a read-only file cannot be written.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setfsuid(0) }()
	do()
}

// A file that cannot be written is reported, and nothing changes.
func TestControlEditsNeedAWritableFile(t *testing.T) {
	c := control(t, controlDemo)
	path := c.opt.Config.Path
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	for file, mode := range map[string]os.FileMode{path: 0o444, dir: 0o555, filepath.Dir(dir): 0o755, c.opt.StateDir: 0o777, filepath.Dir(c.opt.StateDir): 0o755} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	asNobody(t, func() {
		for _, ask := range []struct{ method, path, body string }{
			{"POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1"}`}, {"PUT", "/servers/demo", `{"builtin":"demo","disabled":true}`}, {"DELETE", "/servers/demo", ""},
		} {
			res, body := c.ask(t, ask.method, ask.path, ask.body)
			wantProblem(t, res, body, 409, "config_read_only", "permission denied", "make it writable")
		}
	})
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed (%v):\n%s", err, after)
	}
}

// An edit that cannot be applied is undone: the file has its old contents again.
func TestControlTakesBackAnEditThatCannotBeApplied(t *testing.T) {
	c := control(t, controlDemo)
	path := c.opt.Config.Path
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// valid, but fails when applied.
	before = append(before, "\n[tls]\ncert = \"/nowhere.pem\"\nkey = \"/nowhere.key\"\n"...)
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	res, body := c.ask(t, "POST", "/servers", `{"id":"x","url":"http://127.0.0.1:1"}`)
	if res.StatusCode < 400 || !strings.Contains(body, "nowhere.pem") {
		t.Errorf("POST: %d %s", res.StatusCode, body)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file is not what it was (%v):\n%s", err, after)
	}
	if res, _ := c.ask(t, "GET", "/servers/x", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the server is there all the same: %d", res.StatusCode)
	}
}
