package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockABI returns the version of Landlock; 0: the kernel has none, or it is switched off.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	allRights = writeRights | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	netRights = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	scopes    = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET

	ruleNetPort = 2 // LANDLOCK_RULE_NET_PORT
)

// known returns the file rights that a version of Landlock knows.
func known(abi int) uint64 {
	all := uint64(allRights)
	if abi < abiRefer {
		all &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < abiTruncate {
		all &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < abiIoctl {
		all &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// attr returns the rights that are taken away unless a rule grants them.
func (s *Spec) attr() (a unix.LandlockRulesetAttr) {
	a.Handled_access_fs = known(s.ABI)
	if s.ABI >= abiPorts && !s.Net.Any() {
		a.Handled_access_net = netRights
	}
	if s.ABI >= abiScopes {
		a.Scoped = scopes
		if s.Sockets {
			a.Scoped &^= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		}
	}
	return a
}

// access returns the rights of Landlock that a rule grants.
func (r Rights) access() uint64 {
	switch r {
	case Execute:
		return readRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	case Write:
		return writeRights
	case Both:
		return writeRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	case Device:
		return writeRights | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	default:
		return readRights
	}
}

// landlock restricts the calling thread.
func (s *Spec) landlock() error {
	attr := s.attr()
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return errno
	}
	for _, r := range s.Rules {
		if err := addPath(ruleset, r, known(s.ABI)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
	}
	if attr.Handled_access_net != 0 {
		for _, port := range s.Net {
			rule := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
			if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
				return fmt.Errorf("port %d: %w", port, errno)
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// addPath adds a rule. A file can have only the rights of files.
func addPath(ruleset uintptr, r Rule, known uint64) error {
	fd, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: r.Rights.access() & known, Parent_fd: int32(fd)}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rule.Allowed_access &= fileRights
	}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
