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

// prepare gives the child a session and a process group of its own, and has the kernel kill it when we die.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// tree is a child and all that descends from it.
type tree struct {
	pid    int
	start  uint64 // of the child; what is older does not descend from it
	marker []byte
	log    *slog.Logger
	hard   atomic.Bool // no more asking

	mu    sync.Mutex
	noted map[int]uint64 // guarded by mu; descendants seen while the tree was whole: pid and start time
}

func newTree(pid int, marker string, log *slog.Logger) *tree {
	t := &tree{pid: pid, marker: []byte(marker), log: log, noted: map[int]uint64{}}
	if st, ok := readStat(pid); ok {
		t.start = st.start
	}
	return t
}

// note remembers who descends from the child now. Once a parent has gone, its children can no longer be told by
// theirs, and one that also cleared its environment could not be found at all.
func (t *tree) note() {
	found := t.descendants()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range found {
		t.noted[d.pid] = d.start
	}
}

// terminate asks the child's group to end.
func (t *tree) terminate() { _ = syscall.Kill(-t.pid, syscall.SIGTERM) }

// kill ends the group by force. The rest of the tree follows when the child has ended.
func (t *tree) kill() {
	t.hard.Store(true)
	_ = syscall.Kill(-t.pid, syscall.SIGKILL)
}

// reap waits for the child's end, tells it, and returns when the whole tree is gone. Until then the child stays a
// zombie, so that its number, which is also that of its group and session, cannot mean somebody else.
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

// What the kernel says about a child's end.
const (
	childExited = iota + 1
	childKilled
	childDumped
)

// howEnded says how a child ended.
func howEnded(info *unix.Siginfo) string {
	// After three numbers, and on 64 bits a gap, come the child's number, its user, and its status.
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
	sweepAsk   = time.Second // for those left to end by themselves after a TERM
	sweepLimit = 10 * time.Second
	sweepPause = 10 * time.Millisecond
)

// sweep ends what is left of the tree: first by asking, then by force. It is done after two looks that found
// nobody: one look is not a snapshot, and someone may be born behind its back.
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
