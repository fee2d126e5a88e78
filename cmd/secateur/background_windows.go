package main

import (
	"os/exec"
	"syscall"
)

// inBackground keeps the signals of this terminal from a process.
func inBackground(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
