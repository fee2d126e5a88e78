// Package child runs programs whose standard input and output are ours, and makes sure that nothing of them survives.
//
// [Start] starts a [Program] with an environment of its own (environ.go) and keeps the end of what it writes to standard
// error (stderr.go); [Process.Stop] ends it in steps: its input is closed, it gets a TERM, then a KILL. tree_linux.go,
// tree_bsd.go and tree_windows.go find and end what descends from it: on Linux by process group, session, parents and a
// marker in the environment, all read from /proc (procfs_linux.go); elsewhere by process group or job object.
package child
