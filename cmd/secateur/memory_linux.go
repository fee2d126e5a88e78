package main

import "golang.org/x/sys/unix"

// guardMemory keeps other processes of this user, such as servers, from reading our environment and memory. It also prevents core dumps. The
// kernel undoes it for a child when the child executes its program.
func guardMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
