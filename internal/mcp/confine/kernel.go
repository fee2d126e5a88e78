package confine

import (
	"fmt"
	"runtime"
)

// Kernel describes what the running system can enforce.
type Kernel struct {
	OS      string // runtime.GOOS
	ABI     int    // version of Landlock; 0: none
	Filters bool   // seccomp filters can be used
	Root    bool   // we are root, for whom there is no limit of processes
}

// Versions of Landlock that brought a right, and the versions of Linux that have them.
const (
	abiFiles    = 1
	abiRefer    = 2
	abiTruncate = 3
	abiPorts    = 4
	abiIoctl    = 5
	abiScopes   = 6
)

// Gaps names the parts of some settings that a kernel cannot enforce; nil: it enforces all.
func Gaps(s *Settings, k Kernel) (gaps []string) {
	if !s.On() {
		return nil
	}
	if k.OS != "linux" {
		return []string{fmt.Sprintf("everything: there is no sandbox on %s", k.OS)}
	}
	add := func(missing bool, what string) {
		if missing {
			gaps = append(gaps, what)
		}
	}
	net := s.Ports()
	add(k.ABI < abiFiles, "files: it can read, write and execute all that you can (Landlock, Linux 5.13)")
	add(k.ABI >= abiFiles && k.ABI < abiTruncate, "truncating files (Linux 6.2)")
	add(k.ABI < abiPorts && len(net) > 0 && !net.Any(), "TCP ports (Linux 6.7)")
	add(k.ABI < abiPorts && len(net) == 0 && !k.Filters, "TCP (Linux 6.7)")
	add(!k.Filters && len(net) == 0, "UDP (seccomp)")
	add(k.ABI < abiScopes, "signals to your other processes (Linux 6.12)")
	add(!k.Filters && !s.Sockets, "Unix sockets (seccomp)")
	add(k.Root && s.Processes > 0, "the number of processes: there is no limit for root")
	return gaps
}

// noSandbox is a Kernel that enforces nothing.
func noSandbox() Kernel { return Kernel{OS: runtime.GOOS} }
