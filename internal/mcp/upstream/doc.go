// Package upstream talks to one MCP server. The server is a child process, an HTTP endpoint, or a
// handler in this process. HTTP endpoints use Streamable HTTP, the older HTTP+SSE, or plain
// JSON-RPC POSTs. Messages are envelopes over raw bytes in both directions.
//
// [Settings] is one entry of the configuration, and [New] builds an [Upstream] from it.
// [Upstream.Run] keeps the server alive until its context ends. [Upstream.Call] and
// [Upstream.Notify] are safe for concurrent use.
//
// The package has two kinds of servers. A plain one (plain.go) has no connection: every call is one
// POST with the caller's bytes and id. All others have connections. supervisor.go opens a
// connection, watches it, and opens the next when it ends. current.go lets callers find, await or
// wake the current one. handshake.go determines the server's era, peer.go keeps what the server
// reported, and handshakenotifier.go notifies the observer. connection.go and calls.go map each
// call's id and progress token to unique numbers and back, so that callers never mix.
// connection.await handles a call's timeout and cancellation. incoming.go receives the server's
// requests and notifications, and related.go finds the call they belong to. admission.go limits the
// calls to a server.
//
// A connection uses a link, which only transports messages. stdio.go is the link to the pipes of a
// process run by package child. streamable.go is the link over Streamable HTTP, with
// streamable_call.go for calls and streamable_get.go for the server's own stream. httpsse.go is the
// link over HTTP+SSE, which is also the fallback for servers without Streamable HTTP. They share
// poster.go and the events of sse.go; endpoint.go is also shared with plain servers. inprocess.go
// is the link to a handler. A new transport is a new link.
package upstream
