//go:build linux

// Package childtest finds leftover child processes.
package childtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Living returns the command lines of processes whose environment or command line contains this
// text.
func Living(tb testing.TB, text string) []string {
	tb.Helper()
	dirs, err := filepath.Glob("/proc/[1-9]*")
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		environ, _ := os.ReadFile(dir + "/environ") // gone, or not ours
		command, _ := os.ReadFile(dir + "/cmdline")
		if bytes.Contains(environ, []byte(text)) || bytes.Contains(command, []byte(text)) {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
