package app

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// refuseConnections makes the system ignore new connections to a listener: a socket filter (BPF)
// drops segments with SYN. Clients retry after a second, when the listener is closed, and get an
// error. It returns false if the filter could not be set.
func refuseConnections(ln net.Listener) bool {
	socket, ok := ln.(syscall.Conn)
	if !ok || ln.Addr().Network() != "tcp" {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	// The offset of the flags in a TCP header, and the flag that starts a connection.
	const flags, syn = 13, 0x02
	filter := [...]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 0, Jf: 1, K: syn},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
	return err == nil && set == nil
}

// hasUnaccepted reports whether established connections wait to be accepted.
func hasUnaccepted(ln net.Listener) (has bool) {
	withDescriptor(ln, func(fd int) {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		has = err == nil && info.Unacked > 0 // for a listener: the length of its accept queue
	})
	return has
}

// hasUnread reports whether a connection has unread bytes.
func hasUnread(conn net.Conn) (has bool) {
	withDescriptor(conn, func(fd int) {
		n, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
		has = err == nil && n > 0
	})
	return has
}

// withDescriptor calls f with the file descriptor of a listener or a connection, if it has one.
func withDescriptor(socket any, f func(fd int)) {
	if s, ok := socket.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { f(int(fd)) })
		}
	}
}
