// Package records keeps small values under keys for a while. They describe what was sent to a
// provider, so that it can be sent again in the same form.
//
// Unlike with originals, losing a value only costs a little money. So a full store evicts the least
// recently used values, and nothing is synced to disk. The exception is the form in which a result
// was sent, which a provider relies on: [File.Keep] is for that (keep.go).
//
// [Memory] keeps values in this process. [File] keeps one file each in a directory that processes
// may share and that outlives them. [Redis] keeps them in an engine that replicas share. All are
// safe for concurrent use. Every Put and Get renews a value's TTL.
package records
