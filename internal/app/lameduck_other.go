//go:build !linux

package app

import "net"

// refuseConnections works on Linux only.
func refuseConnections(net.Listener) bool { return false }

// hasUnaccepted works on Linux only.
func hasUnaccepted(net.Listener) bool { return false }

// hasUnread works on Linux only.
func hasUnread(net.Conn) bool { return false }
