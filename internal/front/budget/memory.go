package budget

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// Memory is how many bytes this process may use: the least of what its control group, a resource limit and the machine
// give it; 0 where none of them can be told.
func Memory() int64 {
	return least(memoryOf(os.ReadFile), usable(addressSpace()))
}

// usable is how much of a limit of addresses can be memory. A heap keeps the addresses that it once had, also of memory that it has given back, and
// what is between objects of many sizes is nobody's: a program that has never held more than 361 MiB had asked for 512 under attack.
func usable(addresses int64) int64 { return addresses / 2 }

// memoryOf reads what the system says in its files. Where there are none, as on other systems, nothing is known.
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
		// Every group above counts too. In a container the path may be one of outside, of which only the root is seen.
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if raw, err := read(path.Join(root, dir, file)); err == nil {
				n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
				if err == nil { // "max" is none
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

// least is the smaller of two, of which 0 means that nothing is known.
func least(a, b int64) int64 {
	switch {
	case a <= 0:
		return b
	case b <= 0:
		return a
	}
	return min(a, b)
}
