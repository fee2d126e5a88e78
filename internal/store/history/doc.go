// Package history keeps what the program has spent, saved, cut and recovered, hour by hour, across
// restarts. It holds counters under names from closed sets, never contents.
//
// Other packages add to a [History]:
//
//	h.Chat(history.Exchange{
//		Provider: "kimi", Model: "kimi-k2.6", Spent: 0.012, Passthrough: 0.020, …})
//	h.Cut(history.Cut{Feature: "mcp", Server: "files", Tool: "read_file", Tokens: 4100})
//	h.Recovered(history.Cut{Feature: "mcp", Server: "files", Tool: "read_file", Tokens: 4100})
//
// The control plane queries it, in the format of GET /api/v1/savings:
//
//	savings, err := h.Query(history.Query{By: history.ByModel, Since: 7 * 24 * time.Hour})
//
// In every result and every item, saved − lost = passthrough − spent. An exchange that was cheaper
// than passing through adds to saved, a more expensive one to lost. If several features took part,
// [Exchange.Shares] divides the bill and the difference. Items add up to the total; rows without a
// server, tool or feature are under [None].
//
// Counters are collected in memory. [History.Run] writes them every few seconds and at the end.
// Each process has its own file per day, DAY.PROCESS.json, and replaces it atomically (temporary
// file, fsync, rename). So a crash loses only the last seconds, and several processes can share a
// directory. A query reads the files of all processes. The oldest days are deleted first; files.go
// has the limits. Replicas on several machines share their counters in Redis (shared.go).
package history
