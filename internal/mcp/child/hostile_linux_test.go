package child

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attackVariable makes the test binary a hostile server. Its value is the attack; the arguments are
// its targets.
const attackVariable = "CHILD_TEST_ATTACK"

// hostile tries an attack and prints "done", or "refused" and why.
func hostile(attack string) int {
	do, known := attacks[attack]
	if !known {
		fmt.Println("unknown attack", attack)
		return 9
	}
	if err := do(os.Args[1:]); err != nil {
		fmt.Println("refused:", err)
		return 1
	}
	fmt.Println("done")
	return 0
}

// attacks are what a hostile server does with its targets.
var attacks = map[string]func(targets []string) error{
	"nothing": func([]string) error { return nil },
	"read":    func(t []string) error { return readFile(t[0]) },
	"list": func(t []string) error {
		_, err := os.ReadDir(t[0])
		return err
	},
	"write":    func(t []string) error { return os.WriteFile(t[0], []byte("ours"), 0o600) },
	"truncate": func(t []string) error { return os.Truncate(t[0], 0) },
	"remove":   func(t []string) error { return os.Remove(t[0]) },
	"link in": func(t []string) error { // read a secret under another name
		return errors.Join(os.Link(t[0], t[1]), readFile(t[1]))
	},
	"move in": func(t []string) error { return errors.Join(os.Rename(t[0], t[1]), readFile(t[1])) },
	"symlink": func(t []string) error { return errors.Join(os.Symlink(t[0], t[1]), readFile(t[1])) },
	"execute": func(t []string) error { // a program that it has brought along
		b, err := os.ReadFile("/bin/true")
		if err == nil {
			err = os.WriteFile(t[0], b, 0o700)
		}
		if err == nil {
			err = exec.Command(t[0]).Run()
		}
		return err
	},
	"environment of the parent": func([]string) error { return readFile(ofParent("environ")) },
	"memory of the parent":      func([]string) error { return openFile(ofParent("mem")) },
	"descriptors of the parent": func([]string) error {
		_, err := os.Readlink(ofParent("fd/0"))
		return err
	},
	"signal":     func([]string) error { return syscall.Kill(os.Getppid(), 0) },
	"descriptor": func(t []string) error { return readFile("/proc/self/fd/" + t[0]) },
	"tcp":        func(t []string) error { return dial("tcp", t[0]) },
	"udp":        func(t []string) error { return dial("udp", t[0]) },
	"unix":       func(t []string) error { return dial("unix", t[0]) },
	"listen": func([]string) error {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			err = ln.Close()
		}
		return err
	},
	"mptcp": func([]string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"fast open": fastOpen,
	"io_uring": func([]string) error {
		if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); errno != unix.EFAULT {
			return errno
		}
		return nil // it was looked at
	},
	"keyring": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"fork bomb":  forkBomb,
	"open files": openFiles,
	"privileges": func([]string) error {
		return isIn("/proc/self/status", "NoNewPrivs:\t0")
	},
	"capabilities": func([]string) error { // CAP_SYS_ADMIN
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		_, caps, _ := strings.Cut(string(b), "CapEff:\t")
		if n, err := strconv.ParseUint(caps[:16], 16, 64); err != nil || n&(1<<unix.CAP_SYS_ADMIN) == 0 {
			return fmt.Errorf("capabilities %s", caps[:16])
		}
		return nil
	},
	"core dump": func([]string) error {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Max < 4096 {
			return fmt.Errorf("limit %d, %w", limit.Max, err)
		}
		return nil
	},
	"memory": func([]string) error {
		_, err := unix.Mmap(-1, 0, 8<<30, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		return err
	},
}

func readFile(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func openFile(path string) error {
	f, err := os.Open(path)
	if err == nil {
		err = f.Close()
	}
	return err
}

func isIn(path, text string) error {
	b, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(b), text) {
		err = fmt.Errorf("%s has no %q", path, text)
	}
	return err
}

func ofParent(file string) string {
	return filepath.Join("/proc", strconv.Itoa(os.Getppid()), file)
}

// dial connects and sends a byte.
func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.WriteString(c, "x")
	return err
}

// fastOpen connects without connect, which some kernels do not ask Landlock about.
func fastOpen(t []string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(t[0])
	if err != nil {
		return err
	}
	return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// forkBomb starts processes, as a user for whom there is a limit. It stops after the given number.
func forkBomb(t []string) error {
	most, err := strconv.Atoi(t[0])
	if err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	for range most {
		if err := exec.Command("/bin/sleep", "600").Start(); err != nil {
			return err
		}
	}
	return nil
}

// openFiles opens more files than a sandbox allows.
func openFiles(t []string) error {
	most, err := strconv.Atoi(t[0])
	for i := 0; i < most && err == nil; i++ {
		_, err = unix.Open("/dev/null", unix.O_RDONLY, 0)
	}
	return err
}
