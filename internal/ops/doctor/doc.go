// Package doctor looks for problems that keep the program from working on this machine. Each
// [Finding] names its subject, level, cause and fix. The checks take values. Checks that need the
// whole program, such as a server's handshake, are passed in as a [Check]. [Examine] runs them in
// parallel and keeps their order.
package doctor
