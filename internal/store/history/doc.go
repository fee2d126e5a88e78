// Package history keeps what the program has spent, saved, cut and recovered, hour by hour, so that it survives a restart. It
// holds counters under names from closed sets and never any contents.
//
// The parts that see it happen add to a [History]:
//
//	h.Chat(history.Exchange{Provider: "kimi", Model: "kimi-k2.6", Spent: 0.012, Passthrough: 0.020, …})
//	h.Cut(history.Cut{Feature: "mcp", Server: "files", Tool: "read_file", Tokens: 4100})
//	h.Recovered(history.Cut{Feature: "mcp", Server: "files", Tool: "read_file", Tokens: 4100})
//
// and the control plane asks it, in the shape that GET /api/v1/savings answers:
//
//	savings, err := h.Query(history.Query{By: history.ByModel, Since: 7 * 24 * time.Hour})
//
// In every answer and every item of it, saved − lost = passthrough − spent: an exchange that was cheaper than passing
// through adds to saved, one that was dearer to lost, and where several features took part in it, [Exchange.Shares] divides the
// difference and the bill between them. Items add up to the total; what has no server, tool or feature is under [None].
//
// Counters are collected in memory and written every few seconds and at the end: [History.Run] does that. A process
// has a file of its own for each day, DAY.PROCESS.json, and always replaces it whole (temporary file, fsync, rename),
// so that a crash loses the last seconds and never more, and several processes can share a directory. A query reads
// the files of all. The oldest days make room: files.go has the bounds. Replicas on several machines share the same in Redis
// (shared.go).
package history
