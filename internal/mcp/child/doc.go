// Package child runs child processes with piped standard input and output, and makes sure that none
// of their descendants survives.
//
// [Start] starts a [Program] with its own environment (environ.go) and keeps the end of its
// standard error (stderr.go). A [Sandbox] takes rights away from it (sandbox.go).
//
// [Process.Stop] ends it in steps: it closes its input, sends SIGTERM,
// then SIGKILL. tree_linux.go, tree_bsd.go and tree_windows.go find and end its descendants. On
// Linux they use process group, session, parents and a marker in the environment, all read from
// /proc (procfs_linux.go). Elsewhere they use the process group or a job object.
package child
