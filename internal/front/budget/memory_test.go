package budget

import (
	"io/fs"
	"testing"
)

func TestMemoryIsTheLeastThatIsGiven(t *testing.T) {
	const meminfo = "MemTotal:        8388608 kB\nMemFree: 1 kB\n"
	for _, c := range []struct {
		rule  string
		files map[string]string
		want  int64
	}{
		{"nothing is known", nil, 0},
		{"the machine", map[string]string{"/proc/meminfo": meminfo}, 8 << 30},
		{"a control group", map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "536870912\n",
		}, 512 << 20},
		{"a group above it", map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, 1 << 30},
		{"a container, which sees its own group as the root", map[string]string{
			"/proc/self/cgroup": "0::/../outside\n", "/sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20},
		{"version 1", map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "134217728\n",
		}, 128 << 20},
	} {
		read := func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}
		if got := memoryOf(read); got != c.want {
			t.Errorf("%s: %d, want %d", c.rule, got, c.want)
		}
	}
}

// An address space limit is not all memory: a heap keeps addresses of released memory.
func TestALimitOfAddressesIsNotAllMemory(t *testing.T) {
	if got := usable(512 << 20); got != 256<<20 {
		t.Errorf("of 512 MiB %d are usable, want 256 MiB", got)
	}
	if got := least(8<<30, usable(0)); got != 8<<30 {
		t.Errorf("without a limit %d, want what the machine has", got)
	}
}
