package child

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// descendant is one process of a tree. Its start time distinguishes it from a later process with
// the same id.
type descendant struct {
	pid   int
	start uint64
}

// signal sends a signal if the process is still the same one.
func (d descendant) signal(sig syscall.Signal) {
	p, err := os.FindProcess(d.pid) // holds a pidfd: from here on the id cannot be reused
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if st, ok := readStat(d.pid); ok && st.start == d.start {
		_ = p.Signal(sig)
	}
}

// descendants returns the running descendants of the child. It finds them by their parents, group
// or session, by earlier notes, or by the marker in their environment.
func (t *tree) descendants() []descendant {
	all := readStats()
	t.mu.Lock()
	ours := make(map[int]bool, 8)
	ours[t.pid] = true
	for pid, start := range t.noted {
		if st, ok := all[pid]; ok && st.start == start {
			ours[pid] = true
		}
	}
	t.mu.Unlock()
	buf := make([]byte, 0, 16<<10)
	for pid, st := range all {
		if ours[pid] || st.start < t.start {
			continue
		}
		if st.group == t.pid || st.session == t.pid || t.marked(pid, &buf) {
			ours[pid] = true
		}
	}
	var found []descendant
	for pid, st := range all {
		if pid != t.pid && st.start >= t.start && st.alive() && descends(pid, all, ours) {
			found = append(found, descendant{pid, st.start})
		}
	}
	return found
}

// descends reports whether the chain of parents leads to one of ours.
func descends(pid int, all map[int]stat, ours map[int]bool) bool {
	for range len(all) {
		if ours[pid] {
			return true
		}
		st, ok := all[pid]
		if !ok || st.parent <= 1 {
			return false
		}
		pid = st.parent
	}
	return false
}

// maxEnviron limits how much is read of one environment. The kernel has a similar limit for
// arguments and environment.
const maxEnviron = 4 << 20

// marked looks for the marker in a process's environment. A process that we may not read is not
// ours.
func (t *tree) marked(pid int, buf *[]byte) bool {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	b := (*buf)[:0]
	for len(b) < maxEnviron {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := file.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF || err != nil || n == 0 {
			break
		}
	}
	*buf = b
	return bytes.Contains(b, t.marker)
}

// stat is what /proc reports about a process.
type stat struct {
	state                  byte
	parent, group, session int
	start                  uint64 // clock ticks since boot
}

func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' }

func readStats() map[int]stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // a partial list is better than none
	all := make(map[int]stat, len(names))
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok {
			all[pid] = st
		}
	}
	return all
}

// readStat reads the stat of a process; false if it is gone.
func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(string(b))
}

// parseStat parses the fields after the program's name, which is in parentheses and may contain
// anything.
func parseStat(line string) (stat, bool) {
	i := strings.LastIndexByte(line, ')')
	if i < 0 {
		return stat{}, false
	}
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	fields := strings.Fields(line[i+1:])
	if len(fields) <= start {
		return stat{}, false
	}
	var s stat
	var errs [4]error
	s.state = fields[state][0]
	s.parent, errs[0] = strconv.Atoi(fields[parent])
	s.group, errs[1] = strconv.Atoi(fields[group])
	s.session, errs[2] = strconv.Atoi(fields[session])
	s.start, errs[3] = strconv.ParseUint(fields[start], 10, 64)
	return s, errs == [4]error{}
}
