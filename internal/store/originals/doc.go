// Package originals keeps texts that were cut out of messages. They can be restored byte for byte
// until they expire. An original is named by its content: [ID] is a hash over its tenant and its
// text. So the same text always has the same id, storing it twice costs nothing, and no tenant
// finds another's originals.
//
// A [Store] keeps originals. [Open] returns the one that [Settings] ask for:
//
//   - [Memory] holds the strings themselves, up to a byte limit, as long as the process lives.
//   - [File] holds one compressed file per original. Several processes may share its directory,
//     which survives them, however they end. file.go is the store, fileio.go reads and writes,
//     fileformat.go describes the file format. filequota.go counts usage and removes expired files.
//     fileoldest.go evicts, fileshare.go tracks the tenant of each file, and filelock*.go keeps
//     removal and renewal apart.
//   - [Redis] holds them in an engine that replicas share. redis.go is the store, redisscripts.go
//     holds the engine's scripts.
//
// [WithPutTimeout] wraps a store that can be slow, and gives up on it in time.
//
// [WithReports] wraps any store and logs, at most once a minute, what could not be kept.
//
// A full store refuses new originals or, if [Settings] say so, evicts the least recently used ones
// (LRU). If several tenants share it ([Options]), no tenant gets all the room. A text may only be
// cut after Put returned a nil error; otherwise it stays whole.
//
// Package originalstest holds the contract suite for every store.
package originals
