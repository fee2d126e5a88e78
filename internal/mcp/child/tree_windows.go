package child

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// prepare keeps our console's Ctrl-C from the child.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// tree is a child and all its descendants. They share a job object, which ends them when its last
// handle closes, even if we die.
type tree struct {
	pid int

	mu  sync.Mutex
	job windows.Handle // guarded by mu; 0: none, only the child can be ended
}

func newTree(pid int, _ string, log *slog.Logger) *tree {
	t := &tree{pid: pid}
	if err := t.openJob(); err != nil {
		log.WarnContext(context.Background(), "a server's processes have no job and may outlive it", "err", err)
	}
	return t
}

func (t *tree) openJob() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))) //nolint:gosec // the call takes a structure by address
	if err == nil {
		err = assign(job, t.pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	t.job = job
	return nil
}

func assign(job windows.Handle, pid int) error {
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid)) //nolint:gosec // a process id
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(child) }()
	return windows.AssignProcessToJobObject(job, child)
}

func (t *tree) note() {}

// terminate kills the job. Windows has no request to end that every program understands, and the
// input is already closed.
func (t *tree) terminate() { t.kill() }

func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		return
	}
	if p, err := os.FindProcess(t.pid); err == nil {
		_ = p.Kill()
	}
}

// reap waits for the child's end, reports it, and ends the rest of the job.
func (t *tree) reap(cmd *exec.Cmd, ended func(how string)) {
	_ = cmd.Wait() // cmd.ProcessState says how it ended
	ended(howEnded(cmd.ProcessState))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}

// executable tries a path with the suffixes of programs.
func executable(path string, env []string) (string, bool) {
	endings := lookupEnv(env, "PATHEXT")
	if endings == "" {
		endings = ".COM;.EXE;.BAT;.CMD"
	}
	for _, ending := range append([]string{""}, strings.Split(strings.ToLower(endings), ";")...) {
		if ending == "" && !strings.Contains(path, ".") {
			continue
		}
		if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() {
			return path + ending, true
		}
	}
	return "", false
}
