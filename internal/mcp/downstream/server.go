package downstream

import (
	"context"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/mcp/wire"
)

// Server is what clients connect to. Its methods must be safe for concurrent use.
type Server interface {
	Opener
	// Stateless returns the session for messages that belong to none: those of the modern era over
	// HTTP. It is never closed.
	Stateless() Session
}

// Opener opens sessions.
type Opener interface {
	// Open opens a session for a client that is about to initialize. Every opened session is closed
	// once.
	Open(o Opening) Session
}

// Opening describes a client before its first message.
type Opening struct {
	Principal *access.Principal // nil: the opening request does not identify its sender
	Link      Link
}

// Link sends messages to the client outside any request: over a session's standing stream, or the
// pipe.
type Link interface {
	// Send queues a message for delivery and returns false if it is lost. It does not wait for the
	// client. While no stream is open, messages are kept for the next one, within limits, dropping
	// the oldest first. The caller may reuse the message as soon as Send has returned.
	Send(msg []byte) bool
	// Heard reports whether the client listens now, so that it gets messages without a new request.
	Heard() bool
}

// Session is one client's session.
type Session interface {
	// Handle answers a request. It may run concurrently. Its context ends when the session ends, or
	// when the client disconnects and that counts as giving up. The request is valid until Handle
	// returns.
	Handle(ctx context.Context, req *wire.Message, x Exchange) Answer
	// Notify handles a notification. Those of one client are delivered one at a time, in order. It
	// does not wait for the consequences. The message is valid until Notify returns.
	Notify(ctx context.Context, n *wire.Message, x Exchange)
	// Respond handles the client's answer to a request that was sent to it. The message is valid
	// until Respond returns.
	Respond(ctx context.Context, r *wire.Message)
	// Close ends the session. The contexts of running Handle calls have ended.
	Close()
}

// Quiet is a Session that wants to know when its client will send nothing more, though it still
// listens. Work that waits for the client can then end.
type Quiet interface {
	NoMoreComes()
}

// Exchange is the context of one message.
type Exchange interface {
	// Send puts a notification or a request on the stream of this request, before its answer. It
	// returns false if the message is lost: after the answer, without a stream, or without a
	// reader. The caller may reuse the message as soon as Send has returned.
	Send(msg []byte) bool
	// Header returns the header of the HTTP request; nil: none. It must not be modified.
	Header() http.Header
	// Principal returns the caller; nil if the request does not identify it.
	Principal() *access.Principal
	// Streams reports whether Send can work. It cannot if the client accepts only a single JSON
	// answer.
	Streams() bool
	// Heard reports whether the client is connected now to get what Send puts on the stream.
	Heard() bool
}

// Answer is the outcome of a request.
type Answer struct {
	Body    []byte      // a complete response; empty: the client cancelled, so nothing is sent
	Status  int         // HTTP status; only 200 may be a stream; 0: 200
	Header  http.Header // further header fields, lost if a stream has begun; may be nil
	Stream  bool        // send the answer as a stream, if the client accepts one
	Refused bool        // an initialize that opens no session
	// Release is called once when Body is no longer needed, which may be a minute later: a client
	// may need it again. It must not call back. May be nil.
	Release func()
}
