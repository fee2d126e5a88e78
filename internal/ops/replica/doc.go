// Package replica lets the replicas that share an engine find each other: each announces itself there for as long as it lives, and what only one
// of them can answer is forwarded to it.
//
// A [Group] is one replica's view of all. An announcement (announce.go) is a name, an address and a secret, in the engine for fifteen seconds and
// renewed every five; nothing is ever sent to an address that is not in one. A forwarded request (forward.go) carries who asks, as the replica found out
// that the client came to, and is signed with the secret of the one it is for (signature.go): whoever can read the engine is trusted, and nobody else.
//
// They tell each other news to act on (news.go, pub/sub: what is lost is lost) and leave posts on boards (board.go, streams: whoever comes later reads them too); roll.go lists who
// lives.
package replica
