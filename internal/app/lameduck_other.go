//go:build !linux

package app

import "net"

// refuseConnections is for Linux.
func refuseConnections(net.Listener) bool { return false }

// hasUnaccepted is for Linux.
func hasUnaccepted(net.Listener) bool { return false }

// hasUnread is for Linux.
func hasUnread(net.Conn) bool { return false }
