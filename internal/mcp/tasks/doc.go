// Package tasks knows who made which task of which server (tasks of MCP 2025-11-25, and SEP-2663). A server that all
// share answers whoever knows a task's id; behind the doors only its maker may ask for it, read or cancel it.
//
// A maker is a principal. Where nobody has to say who they are it is a session, and a task that nobody is known to have
// made is left to the server; a caller who did say so finds nothing there. Makers are kept in memory and, where there are
// records, beyond a restart.
package tasks
