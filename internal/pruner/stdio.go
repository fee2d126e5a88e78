package pruner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"secateur/internal/rpc"
)

// maxAtOnce bounds the requests of one pipe that are answered at the same time; the next waits to be read.
const maxAtOnce = 8

// ServeStdio answers the messages that come in line by line, several at once, each with a line of its own. It ends
// when in does, once what is in flight is answered, or when ctx does: then what is in flight is cut short, and in is
// closed where it can be. A read that even this does not wake is left behind.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c, ok := in.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
	}
	p := &pipe{server: s, out: out, cancel: cancel, running: map[string]context.CancelFunc{}, slots: make(chan struct{}, maxAtOnce)}
	err := p.serve(ctx, readFrames(ctx, rpc.NewReader(in, rpc.Lines, int(s.opt.MaxMessageBytes))))
	p.calls.Wait()
	p.writing.Lock()
	defer p.writing.Unlock()
	switch {
	case p.broken != nil:
		return fmt.Errorf("write answer: %w", p.broken)
	case errors.Is(err, io.EOF) || ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("read message: %w", err)
}

// frame is what a read gave.
type frame struct {
	bytes []byte
	err   error
}

// readFrames reads until there is an end, or ctx is done.
func readFrames(ctx context.Context, in *rpc.Reader) <-chan frame {
	frames := make(chan frame)
	go func() {
		for {
			b, err := in.Next()
			select {
			case frames <- frame{b, err}:
			case <-ctx.Done():
				return
			}
			if _, goesOn := errors.AsType[*rpc.TooLongError](err); err != nil && !goesOn {
				return
			}
		}
	}()
	return frames
}

// pipe is one client at the other end of a pair of streams.
type pipe struct {
	server *Server
	out    io.Writer
	cancel context.CancelFunc // of the whole pipe
	slots  chan struct{}      // one for each request in flight
	calls  sync.WaitGroup

	mu      sync.Mutex
	running map[string]context.CancelFunc // by the request's id

	writing sync.Mutex // held while an answer is written: answers do not mix
	broken  error      // out takes no more
}

// serve takes messages until there are none.
func (p *pipe) serve(ctx context.Context, frames <-chan frame) error {
	for {
		var f frame
		select {
		case f = <-frames:
		case <-ctx.Done():
			return ctx.Err()
		}
		long, tooLong := errors.AsType[*rpc.TooLongError](f.err)
		switch {
		case !tooLong && f.err != nil:
			return f.err
		case !tooLong:
			p.take(ctx, f.bytes)
		case long.IsCall && !long.ID.IsZero():
			p.write(rpc.NewError(rpc.CodeInvalidRequest, long.Error()).AppendResponse(nil, long.ID))
		}
	}
}

// take starts the answer to one message.
func (p *pipe) take(ctx context.Context, b []byte) {
	msg, bad := rpc.ParseRequest(b, rpc.MaxRequestDepth)
	if bad != nil {
		if m, err := rpc.ParseServer(b, 0); err == nil && m.Kind() == rpc.Response {
			return // to a question that nobody asked
		}
		p.write(bad.AppendResponse(nil, msg.ID))
		return
	}
	if msg.Kind() != rpc.Request {
		if id := msg.RequestID(); !id.IsZero() {
			p.stop(id)
		}
		return
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	ctx, done := p.begin(ctx, msg.ID)
	p.calls.Go(func() {
		defer func() { <-p.slots }()
		defer done()
		answer := p.server.Serve(ctx, &msg)
		if ctx.Err() == nil { // a request that was called off gets no answer
			p.write(answer)
		}
	})
}

// begin notes a request as running, so that it can be called off.
func (p *pipe) begin(ctx context.Context, id rpc.ID) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	key := id.Key()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, twice := p.running[key]; twice {
		return ctx, cancel // calling off means the first of two with one id
	}
	p.running[key] = cancel
	return ctx, func() {
		p.mu.Lock()
		delete(p.running, key)
		p.mu.Unlock()
		cancel()
	}
}

// stop calls a request off.
func (p *pipe) stop(id rpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.running[id.Key()]; cancel != nil {
		cancel()
	}
}

// write sends one answer. Where that cannot be done any more, the pipe ends.
func (p *pipe) write(answer []byte) {
	line := rpc.Lines.AppendFrame(make([]byte, 0, len(answer)+1), answer)
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.broken != nil {
		return
	}
	if _, err := p.out.Write(line); err != nil {
		p.broken = err
		p.cancel()
	}
}
