//go:build unix && !linux

package upstream

import (
	"log/slog"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// prepare gives the child a session and a process group of its own.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// family is a child and its process group. What left the group is not found here.
type family struct {
	pid  int
	hard atomic.Bool // no more asking
}

func newFamily(pid int, _ string, _ *slog.Logger) *family { return &family{pid: pid} }

func (f *family) note() {}

// terminate asks the group to end.
func (f *family) terminate() { _ = syscall.Kill(-f.pid, syscall.SIGTERM) }

// kill ends the group by force.
func (f *family) kill() {
	f.hard.Store(true)
	_ = syscall.Kill(-f.pid, syscall.SIGKILL)
}

const (
	sweepAsk   = time.Second
	sweepLimit = 10 * time.Second
	sweepPause = 10 * time.Millisecond
)

// reap waits for the child's end, tells it, and returns when its group is gone.
func (f *family) reap(cmd *exec.Cmd, ended func(how string)) {
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
	ended(howEnded(cmd.ProcessState))
	f.terminate()
	for begin := time.Now(); time.Since(begin) < sweepLimit; time.Sleep(sweepPause) {
		if syscall.Kill(-f.pid, 0) != nil {
			return
		}
		if f.hard.Load() || time.Since(begin) > sweepAsk {
			_ = syscall.Kill(-f.pid, syscall.SIGKILL)
		}
	}
}
