// Package doctor looks for what keeps the program from working on this machine: each [Finding] says what was looked at, how it is, why,
// and what to do about it. The checks take values; what only the whole program can tell, such as a server's handshake, its caller hands in
// as a [Check] of its own. [Examine] runs them side by side and keeps their order.
package doctor
