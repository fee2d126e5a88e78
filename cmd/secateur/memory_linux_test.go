package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server runs as our user and still cannot read our secrets from /proc.
func TestServersCannotReadOurMemory(t *testing.T) {
	dir, err := os.MkdirTemp("", "memory") //nolint:usetesting // another user must reach it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "secateur") // by this name the test binary runs main
	copyOfThisProgram(t, program)
	config := filepath.Join(dir, "secateur.toml")
	const probe = `for f in environ maps mem; do if (exec 3</proc/$PPID/$f) 2>/dev/null; then echo open $f; else echo shut $f; fi; done >&2; exec 3</proc/$$/environ && echo own environ >&2`
	text := "[store]\nurl = \"memory:\"\n[[servers]]\nid = \"hostile\"\ncommand = [\"sh\", \"-c\", '''" + probe + "''']\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "doctor", "--config", config)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "GOCOVERDIR=" + dir}
	if os.Geteuid() == 0 { // root may read everything
		const nobody = 65534
		for _, path := range []string{dir, program, config} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput() // doctor fails, since the server ends at once
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("root reads everything, and no other user can run a program of %s here: %v", dir, err)
	}
	if !strings.Contains(string(out), "shut environ | shut maps | shut mem | own environ") {
		t.Errorf("doctor says:\n%s", out)
	}
}

func copyOfThisProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(copied, from); err != nil {
		t.Fatal(err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
}
