// Package pool decides which connection to a server serves which client, and
// keeps what the servers list.
//
// A client joins and becomes a [Member]. Nothing is started for it until it asks
// for a connection ([Member.Conn]), for what all servers list ([Member.Catalog])
// or say about themselves ([Member.Peers]). [Pool.Run] owns every connection and
// returns when none is left.
//
// choose.go has the rules: a server's base, which declares no capabilities, serves
// those who have none; others share a connection that declares theirs, modern
// clients one in their own era where the server speaks it (probe.go finds out),
// and a session has one for itself where the server is to be isolated. seats.go
// takes a member to the chosen connection and lets it wait for what cannot be told
// yet. A connection without users lingers and ends.
//
// A [Conn] is one connection. lists.go and fetch.go keep its lists: fetched when it
// is opened, when the server says that they changed, and when they have grown old.
// audience.go knows who hears what comes over it (incoming.go), level.go and
// subscribe.go tell the server what its members want to hear, listen.go does so in
// the modern era. catalogs.go merges the lists, once for all members who see the
// same, and announce.go tells those for whom something changed.
//
// One lock, Pool.mu, guards who uses what and what is listed; a connection's
// audience, its shelves and its listener have locks of their own, taken after
// it. No lock is held while a server is called or a Listener hears.
package pool
