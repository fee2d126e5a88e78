// Package downstream carries MCP messages between clients and a [Server]: over Streamable HTTP in all its revisions, over
// the older HTTP+SSE, and over a pair of pipes. What a message means is the server's business; here it is only decided
// which session it belongs to and on which way it travels.
//
// [HTTP] is one handler for all of HTTP. A request (http.go) is a POST with a message (post.go) or a batch of them
// (batch.go), a GET that listens, or a DELETE (get.go); httpsse.go has what HTTP+SSE does otherwise, failure.go every way
// to say no. Messages of the modern era belong to no session. All others belong to one that an initialize opened
// (httpsession.go), found by its id in the registry, whose sweeper ends those that nobody uses.
//
// An [Exchange] is what a Server sees around a request. Over HTTP it is a postResponse (postresponse.go): it sends the answer
// whole, or makes a stream of it once there is something to say before. The messages of a stream stand in its session's replay
// buffer (replaybuffer.go, stream.go) until a connection has taken them (connection.go), and a little longer, so that a client whose
// connection broke finds them when it comes back with Last-Event-ID. Everything that clients can make grow has a bound.
//
// [ServeStdio] does the same over pipes (stdio.go), with one queue for all that is written (outbox.go).
package downstream
