// Package upstream speaks to one MCP server: a child process, a Streamable HTTP endpoint, a plain JSON-RPC POST
// endpoint, or a handler in this process. Messages go in and come out as rpc envelopes over raw bytes.
//
// [Settings] is one entry of the configuration, [New] builds an [Upstream] from it, [Upstream.Run] keeps the server
// alive until its context ends, and [Upstream.Call] and [Upstream.Notify] may be used by many callers at once.
//
// Inside there are two kinds of servers. A plain one (plain.go) has no connection worth the name: every call is one
// HTTP exchange that carries the caller's bytes and id. All others have sessions. supervise.go opens one, watches it,
// and opens the next when it ends; live.go lets callers find, await or wake the current one. handshake.go finds out
// which era of the protocol the server speaks, and peer.go keeps what it said. session.go and calls.go give each call
// an id and a progress token of its own and map them back, so that callers never mix; incoming.go takes what the
// server sends of its own accord.
//
// A session stands on a link, which only moves messages. stdio.go is the one to a child's pipes; process*.go and
// proctree_linux.go below it start a child and make sure that nothing of it survives. streamable.go is the one over
// HTTP, with exchange.go for calls, standing.go for the server's own stream and sse.go for events; endpoint.go holds
// what it shares with plain servers. local.go is the one to a handler. Another transport is another link.
package upstream
