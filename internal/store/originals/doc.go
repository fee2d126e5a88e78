// Package originals keeps what was cut out of a message, so that it can be restored byte for byte until its time
// to live is over. An original is named by its content: [ID] is a hash over the tenant it belongs to and its text,
// so the same text always has the same id, keeping it twice costs nothing, and nobody finds another tenant's.
//
// A [Store] is where they are kept. [Open] makes the one that [Settings] ask for:
//
//   - [Memory] holds the strings themselves, within a bound of bytes, for as long as the process lives.
//   - [File] holds one compressed file each in a directory that several processes may share and that survives
//     them, whichever way they end. file.go is the store, fileio.go reads and writes, fileformat.go says what is in a file, filequota.go
//     counts what is there and drops what has expired, fileoldest.go what was not used for longest, fileshare.go
//     knows whose a file is, filelock*.go keeps that apart from a renewal.
//   - [Redis] holds them in an engine that replicas share. redis.go is the store, redisscripts.go what the engine counts.
//
// [WithPutTimeout] stands in front of a store that can be slow and gives up on it in time.
//
// [WithReports] stands in front of any and tells the operator, once a minute at most, what could not be kept.
//
// A store that is full refuses new originals or, where [Settings] say so, drops those that were not used for longest
// (LRU). Where several tenants share one ([Options]), none gets all of the room. Whoever cuts a text must first have a nil
// error from Put; with any other answer the text stays where it is, whole.
//
// Package originalstest holds the suite that every store passes.
package originals
