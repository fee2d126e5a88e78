//go:build unix && !linux

package child

import (
	"log/slog"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// prepare gives the child its own session and process group.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tree is a child and its process group. Processes that left the group are not found.
type tree struct {
	pid  int
	hard atomic.Bool // kill immediately
}

func newTree(pid int, _ string, _ *slog.Logger) *tree { return &tree{pid: pid} }

func (t *tree) note() {}

// terminate sends SIGTERM to the group.
func (t *tree) terminate() { _ = syscall.Kill(-t.pid, syscall.SIGTERM) }

// kill sends SIGKILL to the group.
func (t *tree) kill() {
	t.hard.Store(true)
	_ = syscall.Kill(-t.pid, syscall.SIGKILL)
}

const (
	sweepAsk   = time.Second
	sweepLimit = 10 * time.Second
	sweepPause = 10 * time.Millisecond
)

// reap waits for the child's end, reports it, and returns when its group is gone.
func (t *tree) reap(cmd *exec.Cmd, ended func(how string)) {
	_ = cmd.Wait() // cmd.ProcessState says how it ended
	ended(howEnded(cmd.ProcessState))
	t.terminate()
	for begin := time.Now(); time.Since(begin) < sweepLimit; time.Sleep(sweepPause) {
		if syscall.Kill(-t.pid, 0) != nil {
			return
		}
		if t.hard.Load() || time.Since(begin) > sweepAsk {
			_ = syscall.Kill(-t.pid, syscall.SIGKILL)
		}
	}
}
