// Package clients knows the MCP clients of this machine: where each keeps its servers, how it writes one, and how to change
// such a file so that the change can be undone.
//
// [Known] is the table of clients. [Keeper] writes files whole or not at all, keeps backups, and remembers what a
// client's file was before secateur was put into it.
package clients
