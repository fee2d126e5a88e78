// Package pool is a connection pool. It decides which connection to a server serves which client,
// and caches the servers' lists.
//
// A client joins and becomes a [Member]. Nothing is started for it until it asks for something: a
// connection ([Member.Conn]), the merged lists ([Member.Catalog]) or the servers' descriptions
// ([Member.Peers]). [Pool.Run] owns every connection and returns when none is left.
//
// choose.go has the rules. A shared connection declares everything that can be served for any
// client and serves all. Modern clients have a separate one if the server also speaks the modern
// era (eras.go finds out). A session has a private one if the server's isolation is per-session.
// lease.go attaches a member to the chosen connection and waits for undecided choices. A connection
// without users lingers and ends.
//
// A [Conn] is one connection. listcache.go and snapshot.go cache its lists. They are fetched when
// the connection opens, when the server announces a change, and when they have expired; settle.go
// waits for the newest. fanout.go knows which members receive the server's notifications
// (incoming.go). loglevel.go and subscribe.go tell the server which notifications its members want;
// listenstream.go does so in the modern era. roots.go answers requests for the roots of all
// members. catalogcache.go merges the lists once for all members who see the same, and
// listchanged.go notifies the members affected by a change.
//
// roster.go holds the set of servers. reload.go replaces the roster: unchanged servers keep their
// connections, the others are drained.
//
// Jobs that outlive their caller run in the background (background.go), some of them one at a time
// (singleflight.go).
//
// One lock, Pool.mu, guards the leases and the lists. A connection's fanout, list caches and listen
// stream have their own locks, taken after it. No lock is held while a server is called or an
// Observer is notified.
package pool
