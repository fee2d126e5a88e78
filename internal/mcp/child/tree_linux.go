package child

import (
	"context"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepare gives the child its own session and process group, and makes the kernel kill it when we
// die.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// tree is a child and all its descendants.
type tree struct {
	pid    int
	start  uint64 // start time of the child; older processes are not descendants
	marker []byte
	log    *slog.Logger
	hard   atomic.Bool // kill immediately

	mu sync.Mutex
	// guarded by mu; descendants seen while the tree was complete: pid and start time
	noted map[int]uint64
}

func newTree(pid int, marker string, log *slog.Logger) *tree {
	t := &tree{pid: pid, marker: []byte(marker), log: log, noted: map[int]uint64{}}
	if st, ok := readStat(pid); ok {
		t.start = st.start
	}
	return t
}

// note records the current descendants of the child. Once a parent has ended, its children can no
// longer be found by it. A child that also cleared its environment could not be found at all.
func (t *tree) note() {
	found := t.descendants()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range found {
		t.noted[d.pid] = d.start
	}
}

// terminate sends SIGTERM to the child's group.
func (t *tree) terminate() { _ = syscall.Kill(-t.pid, syscall.SIGTERM) }

// kill sends SIGKILL to the group. The rest of the tree follows when the child has ended.
func (t *tree) kill() {
	t.hard.Store(true)
	_ = syscall.Kill(-t.pid, syscall.SIGKILL)
}

// reap waits for the child's end, reports it, and returns when the whole tree is gone. Until then
// the child stays a zombie. Its process id, which is also its group and session id, thus cannot be
// reused.
func (t *tree) reap(cmd *exec.Cmd, ended func(how string)) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, t.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	ended(howEnded(&info))
	t.sweep()
	_ = cmd.Wait()
}

// The kernel's codes for a child's end.
const (
	childExited = iota + 1
	childKilled
	childDumped
)

// howEnded describes how a child ended.
func howEnded(info *unix.Siginfo) string {
	// After three integers (and padding on 64 bits) come the child's process id, its user and its
	// status.
	at := 12 + 8
	if unsafe.Sizeof(uintptr(0)) == 8 {
		at += 4
	}
	status := *(*int32)(unsafe.Add(unsafe.Pointer(info), at)) //nolint:gosec // the package names no fields for it
	switch info.Code {
	case childExited:
		return exitText(int(status))
	case childKilled:
		return "ended by signal: " + syscall.Signal(status).String()
	case childDumped:
		return "ended by signal: " + syscall.Signal(status).String() + " (core dumped)"
	}
	return "ended"
}

const (
	sweepAsk   = time.Second // for the remaining processes to end after SIGTERM
	sweepLimit = 10 * time.Second
	sweepPause = 10 * time.Millisecond
)

// sweep ends the rest of the tree, first with SIGTERM, then with SIGKILL. It stops after two scans
// that found nothing. One scan is not a snapshot: new processes may appear during it.
func (t *tree) sweep() {
	begin := time.Now()
	asked := map[int]uint64{}
	for clean := 0; clean < 2; {
		found := t.descendants()
		if len(found) == 0 {
			clean++
			continue
		}
		clean = 0
		force := t.hard.Load() || time.Since(begin) > sweepAsk
		for _, d := range found {
			if force {
				d.signal(syscall.SIGKILL)
			} else if asked[d.pid] != d.start {
				asked[d.pid] = d.start
				d.signal(syscall.SIGTERM)
			}
		}
		if time.Since(begin) > sweepLimit {
			t.log.WarnContext(context.Background(), "processes of a server could not be ended", "count", len(found), "pid", found[0].pid)
			return
		}
		time.Sleep(sweepPause)
	}
}
