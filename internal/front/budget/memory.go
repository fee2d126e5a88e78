package budget

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// Memory returns the bytes that this process may use: the minimum of its control group, resource
// limits and the machine; 0: unknown.
func Memory() int64 {
	return least(memoryOf(os.ReadFile), usable(addressSpace()))
}

// usable returns how much of an address space limit can be memory. A heap keeps addresses of
// released memory, and fragmentation wastes some. A process that never held more than 361 MiB had
// reserved 512 MiB under attack.
func usable(addresses int64) int64 { return addresses / 2 }

// memoryOf reads the system's files. On other systems they are missing, and the result is unknown.
func memoryOf(read func(name string) ([]byte, error)) int64 {
	known := machine(read)
	groups, err := read("/proc/self/cgroup")
	if err != nil {
		return known
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max" // version 2
		if parts[1] != "" {
			if parts[1] != "memory" {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// All parent groups count too. In a container the path may be one of the host, of which
		// only the root is visible.
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if raw, err := read(path.Join(root, dir, file)); err == nil {
				n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
				if err == nil { // "max" means no limit
					known = least(known, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return known
}

func machine(read func(name string) ([]byte, error)) int64 {
	info, err := read("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// least returns the smaller value; 0 means unknown.
func least(a, b int64) int64 {
	switch {
	case a <= 0:
		return b
	case b <= 0:
		return a
	}
	return min(a, b)
}
