// Package confine starts a program with fewer rights than we have, without root and without
// containers.
//
// [Settings] say what a server may touch. [New] turns them into a [Plan] for one command: which
// paths it may read, write and execute, which ports it may connect to, and its limits. [Command]
// wraps the command so that our own binary is started first. It calls [Main], which restricts
// itself and then replaces itself by the server. Process id, group, pipes and signals stay.
//
// On Linux the kernel enforces it: Landlock for files, TCP ports and signals (landlock_linux.go),
// seccomp for sockets (seccomp_linux.go), rlimits and capabilities (limits_linux.go). [Gaps] names
// the parts that the running kernel cannot enforce. On other systems that is everything.
package confine
