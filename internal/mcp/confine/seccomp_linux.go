package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock knows files and TCP. A filter of system calls closes the ways around it: other sockets,
// and io_uring, which opens sockets without a system call that a filter sees.

// Offsets in seccomp_data, of the low half of an argument on little-endian machines.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

// archOf returns the kernel's name for an architecture; 0: we have no filter for it.
func archOf(goarch string) uint32 {
	switch goarch {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// hasFilters reports whether the kernel accepts filters.
func hasFilters() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0 && archOf(runtime.GOARCH) != 0
}

type program []unix.SockFilter

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func load(offset uint32) unix.SockFilter { return op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }

func argument(n uint32) unix.SockFilter { return load(atArgs + 8*n) }

func allow() unix.SockFilter { return op(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW) }

func refuse(errno unix.Errno) unix.SockFilter {
	return op(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno))
}

// when runs a block if the comparison holds. The block must end with a return.
func when(compare uint16, k uint32, block ...unix.SockFilter) program {
	jump := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | compare, Jf: uint8(len(block)), K: k}
	return append(program{jump}, block...)
}

// x32 marks system calls of an x86 ABI that we do not check.
const x32 = 0x40000000

// filter returns the program that decides about system calls.
func (s *Spec) filter(arch uint32) program {
	p := program{load(atArch)}
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: arch}, refuse(unix.ENOSYS), load(atNumber))
	if arch == unix.AUDIT_ARCH_X86_64 {
		p = append(p, when(unix.BPF_JGE, x32, refuse(unix.ENOSYS))...)
	}
	for _, call := range []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY} {
		p = append(p, when(unix.BPF_JEQ, call, refuse(unix.EPERM))...)
	}
	p = append(p, when(unix.BPF_JEQ, unix.SYS_SOCKET, s.sockets()...)...)
	if !s.Net.Any() { // fast open connects without asking Landlock
		for _, send := range []struct{ call, flags uint32 }{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
			block := append(program{argument(send.flags)}, when(unix.BPF_JSET, unix.MSG_FASTOPEN, refuse(unix.EPERM))...)
			p = append(p, when(unix.BPF_JEQ, send.call, append(block, allow())...)...)
		}
	}
	return append(p, allow())
}

// sockets decides by the family, and by the protocol where only some ports are allowed: Landlock
// does not see MPTCP or SCTP.
func (s *Spec) sockets() program {
	p := program{argument(0)}
	families := []uint32{unix.AF_NETLINK} // to list the network interfaces
	if s.Sockets {
		families = append(families, unix.AF_UNIX)
	}
	var internet program
	switch {
	case s.Net.Any():
		internet = program{allow()}
	case len(s.Net) > 0:
		internet = program{argument(2)}
		for _, protocol := range []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
			internet = append(internet, when(unix.BPF_JEQ, protocol, allow())...)
		}
		internet = append(internet, refuse(unix.EACCES))
	default:
		internet = program{refuse(unix.EACCES)}
	}
	for _, family := range families {
		p = append(p, when(unix.BPF_JEQ, family, allow())...)
	}
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		p = append(p, when(unix.BPF_JEQ, family, internet...)...)
	}
	return append(p, refuse(unix.EACCES))
}

// install puts the filter on the calling thread.
func install(p program) error {
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
