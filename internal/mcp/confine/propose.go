package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// containers are programs that isolate by themselves and need the socket of a daemon.
var containers = []string{"docker", "podman", "nerdctl"}

// Propose returns the profile that fits a command: off for containers, files if its arguments name
// paths, else package.
func Propose(command []string, dir, home string) string {
	if slices.Contains(containers, filepath.Base(command[0])) {
		return ProfileOff
	}
	if dir == "" {
		dir, _ = os.Getwd() // relative arguments are not found then
	}
	if strings.HasPrefix(dir, "~") {
		dir = home + dir[1:]
	}
	b := &builder{Program: Program{Command: command, Dir: dir, Home: home}}
	if len(b.arguments()) > 0 {
		return ProfileFiles
	}
	return ProfilePackage
}
