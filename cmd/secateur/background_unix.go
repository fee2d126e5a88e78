//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// inBackground keeps the signals of this terminal from a process.
func inBackground(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
