// Package replica lets replicas that share an engine find each other. Each announces itself there
// while it lives. A request that only one of them can answer is forwarded to it.
//
// A [Group] is one replica's view of all. An announcement (announce.go) is a name, an address and a
// secret. It stays in the engine for fifteen seconds and is renewed every five. Nothing is ever
// sent to an unannounced address. A forwarded request (forward.go) carries the principal that the
// first replica authenticated. It is signed with the recipient's secret (signature.go). So everyone
// who can read the engine is trusted, and no one else.
//
// Replicas send each other news to act on (news.go, pub/sub, may be lost). They also leave posts on
// boards (board.go, streams, readable later). roll.go lists the living replicas.
package replica
