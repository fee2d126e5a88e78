package app

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isRefused reports whether no process listens on a socket.
func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
