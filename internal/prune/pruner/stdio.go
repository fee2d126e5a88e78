package pruner

import (
	"context"
	"errors"
	"io"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

const (
	// maxAtOnce limits the concurrent requests of one pipe; further ones wait to be read.
	maxAtOnce = 8
	// lastAnswers is how long pending requests may take after the input has ended. A user who pipes
	// a file into the program wants all responses, and a reranker may be slow.
	lastAnswers = 5 * time.Minute
)

// ServeStdio serves the client at the other end of a pair of pipes, by the rules of
// downstream.ServeStdio.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return downstream.ServeStdio(ctx, in, out, downstream.StdioOptions{
		Server: s, Principal: access.Anonymous(), MaxMessageBytes: s.opt.MaxMessageBytes,
		MaxInFlight: maxAtOnce, Grace: lastAnswers, Log: s.opt.Log,
	})
}

// Open makes a session for a client at a pipe.
func (s *Server) Open(downstream.Opening) downstream.Session { return &pipeSession{server: s} }

// pipeSession is a client at a pipe. The pruner sends its clients no requests and no notifications.
type pipeSession struct {
	server   *Server
	inFlight wire.InFlight
}

// errCancelled is the cause of a request's end if its client cancelled it.
var errCancelled = errors.New("cancelled by the client")

// Handle answers a request. A cancelled request gets no response.
func (s *pipeSession) Handle(ctx context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	ctx, done := s.inFlight.Begin(ctx, req.ID)
	defer done()
	body := s.server.Serve(ctx, req)
	if ctx.Err() != nil {
		return downstream.Answer{}
	}
	return downstream.Answer{Body: body}
}

// Notify handles a cancellation and ignores all other notifications.
func (s *pipeSession) Notify(_ context.Context, n *wire.Message, _ downstream.Exchange) {
	if n.Method == "notifications/cancelled" {
		s.inFlight.Cancel(n.RequestID(), errCancelled)
	}
}

// Respond ignores responses, because the pruner sends no requests.
func (s *pipeSession) Respond(context.Context, *wire.Message) {}

// Close cancels the pending requests.
func (s *pipeSession) Close() { s.inFlight.Close() }
