package downstream

import (
	"context"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/mcp/wire"
)

// Server is what clients are connected to. Its methods may be called from many goroutines at once.
type Server interface {
	Opener
	// Stateless is the session of a message that belongs to none: one of the modern era over HTTP. It is never closed.
	Stateless() Session
}

// Opener makes sessions.
type Opener interface {
	// Open makes a session for a client that is about to initialize. Every session opened is closed once.
	Open(o Opening) Session
}

// Opening is what is known of a client before its first message.
type Opening struct {
	Principal *access.Principal // nil: nothing that came with what opened the session says who that was
	Link      Link
}

// Link leads to the client outside any request: the standing stream of a session, or the pipe.
type Link interface {
	// Send hands a message over for delivery and reports false where it is lost. It does not wait for the client;
	// what is sent while no stream is open is kept for the next one, within bounds, the oldest going first. The
	// message may be changed by the caller as soon as Send has returned.
	Send(msg []byte) bool
	// Heard reports whether the client listens now: what is sent reaches it without it having to come again.
	Heard() bool
}

// Session is one client's conversation.
type Session interface {
	// Handle answers a request. It may run many times at once. Its context ends when the client gives the request
	// up by going away, where that means giving up, and when the session ends. The request is valid until Handle
	// returns.
	Handle(ctx context.Context, req *wire.Message, x Exchange) Answer
	// Notify takes a notification; those of one client come one after the other, as they were sent. It does not
	// wait for what the notification leads to. The message is valid until Notify returns.
	Notify(ctx context.Context, n *wire.Message, x Exchange)
	// Respond takes the client's answer to a request that was sent to it. The message is valid until Respond returns.
	Respond(ctx context.Context, r *wire.Message)
	// Close ends the session. Handles that still run have seen their contexts end.
	Close()
}

// Quiet is a Session that wants to know when its client will say nothing more, though it still listens: what waits for a
// word from it can end.
type Quiet interface {
	NoMoreComes()
}

// Exchange is what is around one message.
type Exchange interface {
	// Send puts a notification or a request on the stream of this request, ahead of its answer, and reports false
	// where it is lost: after the answer, without a stream, or with nobody to read it. The message may be changed
	// by the caller as soon as Send has returned.
	Send(msg []byte) bool
	// Header holds the header of the HTTP request; nil where there is none. It is not to be changed.
	Header() http.Header
	// Principal is the caller; nil where nothing that came with the request says who that is.
	Principal() *access.Principal
	// Streams reports whether Send leads anywhere. It does not where the client takes nothing but one JSON answer.
	Streams() bool
	// Heard reports whether the client is there now to get what Send puts on the stream.
	Heard() bool
}

// Answer is the outcome of a request.
type Answer struct {
	Body    []byte      // a whole response; empty: nobody wants to know any more, so nothing is sent
	Status  int         // of the HTTP answer, which is no stream unless it is 200; 0: 200
	Header  http.Header // further header fields, lost where a stream has begun; may be nil
	Stream  bool        // the answer is to be sent as a stream, where the client takes one
	Refused bool        // an initialize that opens no session
	// Release is called once when Body is no longer looked at, which may be a minute later: a client may have to be
	// sent it again. It must not call back. May be nil.
	Release func()
}
