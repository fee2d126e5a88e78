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
	// maxAtOnce bounds the requests of one pipe that are answered at the same time; the next waits to be read.
	maxAtOnce = 8
	// lastAnswers is how long the requests of a pipe whose input has ended may take: whoever pipes a file into the program
	// wants all the answers, and a reranker takes its time.
	lastAnswers = 5 * time.Minute
)

// ServeStdio serves the client at the other end of a pair of pipes, by the rules of downstream.ServeStdio.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return downstream.ServeStdio(ctx, in, out, downstream.StdioOptions{
		Server: s, Principal: access.Anonymous(), MaxMessageBytes: s.opt.MaxMessageBytes,
		MaxInFlight: maxAtOnce, Grace: lastAnswers, Log: s.opt.Log,
	})
}

// Open makes a session for a client at a pipe.
func (s *Server) Open(downstream.Opening) downstream.Session { return &pipeSession{server: s} }

// pipeSession is a client at a pipe. The pruner asks its clients nothing and tells them nothing unasked.
type pipeSession struct {
	server   *Server
	inFlight wire.InFlight
}

// errCancelled is why a request ended whose client asked for that.
var errCancelled = errors.New("cancelled by the client")

// Handle answers a request. One that was cancelled gets no answer.
func (s *pipeSession) Handle(ctx context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	ctx, done := s.inFlight.Begin(ctx, req.ID)
	defer done()
	body := s.server.Serve(ctx, req)
	if ctx.Err() != nil {
		return downstream.Answer{}
	}
	return downstream.Answer{Body: body}
}

// Notify takes a notification; a cancel is all that matters here.
func (s *pipeSession) Notify(_ context.Context, n *wire.Message, _ downstream.Exchange) {
	if n.Method == "notifications/cancelled" {
		s.inFlight.Cancel(n.RequestID(), errCancelled)
	}
}

// Respond passes over an answer to a question that nobody asked.
func (s *pipeSession) Respond(context.Context, *wire.Message) {}

// Close ends what still runs.
func (s *pipeSession) Close() { s.inFlight.Close() }
