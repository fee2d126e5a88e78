// Package clients knows the MCP clients on this machine: where each lists its servers, in which
// format, and how to change its file reversibly.
//
// [Known] is the table of clients. [Keeper] writes files atomically, keeps backups, and remembers a
// client's file from before secateur was added.
package clients
