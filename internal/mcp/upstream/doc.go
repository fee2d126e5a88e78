// Package upstream speaks to one MCP server: a child process, an endpoint over Streamable HTTP or the older HTTP+SSE,
// a plain JSON-RPC POST endpoint, or a handler in this process. Messages go in and come out as rpc envelopes over raw
// bytes.
//
// [Settings] is one entry of the configuration, [New] builds an [Upstream] from it, [Upstream.Run] keeps the server
// alive until its context ends, and [Upstream.Call] and [Upstream.Notify] may be used by many callers at once.
//
// Inside there are two kinds of servers. A plain one (plain.go) has no connection worth the name: every call is one
// POST that carries the caller's bytes and id. All others have connections. supervisor.go opens one, watches it,
// and opens the next when it ends; current.go lets callers find, await or wake the current one. handshake.go finds out
// which era of the protocol the server speaks, peer.go keeps what it said, and handshakenotifier.go tells whoever wants to
// know. connection.go and calls.go give each call an id and a progress token of its own and map them back, so that callers
// never mix; a call's timeout and its cancel are decided there, in await. incoming.go takes what the server sends of its own
// accord, and related.go finds the call that it is for. admission.go bounds the calls at a server.
//
// A connection stands on a link, which only moves messages. stdio.go is the one to the pipes of a process that package child
// runs. streamable.go is the one over Streamable HTTP, with streamable_call.go for calls and streamable_get.go for the
// server's own stream; httpsse.go is the one over HTTP+SSE, which is also tried with a server that does not know the newer
// one. They share poster.go and the events of sse.go; endpoint.go holds what they share with plain servers. inprocess.go is
// the one to a handler. Another transport is another link.
package upstream
