// Package tasks records which caller created which task of which server (tasks of MCP 2025-11-25,
// and SEP-2663). A shared server answers everyone who knows a task's id. Behind the doors only its
// owner may query, read or cancel it.
//
// An owner is a principal or, without authentication, a session. A task with an unknown owner is
// left to the server for unauthenticated callers; authenticated callers find nothing. Owners are
// kept in memory and, with Records, across restarts.
package tasks
