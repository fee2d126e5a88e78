// Package pool decides which connection to a server serves which client, and
// keeps what the servers list.
//
// A client joins and becomes a [Member]. Nothing is started for it until it asks
// for a connection ([Member.Conn]), for what all servers list ([Member.Catalog])
// or say about themselves ([Member.Peers]). [Pool.Run] owns every connection and
// returns when none is left.
//
// choose.go has the rules: one connection that declares what can be served for
// anyone serves all; modern clients have one in their own era where the server
// speaks it (eras.go finds out), and a session has one for itself where the server
// is to be isolated. lease.go takes a member to the chosen connection and lets it
// wait for what cannot be told yet. A connection without users lingers and ends.
//
// A [Conn] is one connection. listcache.go and snapshot.go keep its lists: fetched
// when it is opened, when the server says that they changed, and when they have
// grown old; settle.go waits for the newest. fanout.go knows who hears what comes over it (incoming.go),
// loglevel.go and subscribe.go tell the server what its members want to hear,
// listenstream.go does so in the modern era. roots.go answers for the roots of all
// members. catalogcache.go merges the lists, once for all members who see the
// same, and listchanged.go tells those for whom something changed.
//
// roster.go has which servers there are; reload.go puts another roster in its place:
// what is the same keeps its connections, what is not is drained.
//
// Jobs that outlive their caller run in the background (background.go), some of
// them one at a time (singleflight.go).
//
// One lock, Pool.mu, guards who uses what and what is listed; a connection's
// fanout, its list caches and its listen stream have locks of their own, taken
// after it. No lock is held while a server is called or an Observer hears.
package pool
