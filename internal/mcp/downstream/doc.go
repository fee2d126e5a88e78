// Package downstream transports MCP messages between clients and a [Server]: over Streamable HTTP
// in all its revisions, over the older HTTP+SSE, and over a pair of pipes. The server interprets
// the messages. This package only assigns them to sessions and delivers them.
//
// [HTTP] is one handler for all of HTTP. A request (http.go) is a POST with a message (post.go) or
// a batch (batch.go), a GET that listens, or a DELETE (get.go). httpsse.go has the differences of
// HTTP+SSE, failure.go all error responses. Messages of the modern era belong to no session. All
// others belong to a session opened by an initialize (httpsession.go). The registry finds it by its
// id, and its sweeper ends idle sessions.
//
// An [Exchange] is what a Server sees around a request. Over HTTP it is a postResponse
// (postresponse.go). It sends the answer whole, or opens a stream if other messages come first. A
// stream's messages stay in the session's replay buffer (replaybuffer.go, stream.go) until a
// connection has written them (connection.go), and for a short time after. A client whose
// connection broke gets them when it returns with Last-Event-ID. Everything that clients can make
// grow has a limit.
//
// [ServeStdio] does the same over pipes (stdio.go), with one queue for all output (outbox.go).
package downstream
