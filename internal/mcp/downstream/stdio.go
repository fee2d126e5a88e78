package downstream

// MCP, "Transports", stdio: the server's side.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/wire"
)

// StdioOptions configure the serving of a pair of pipes. Server and MaxMessageBytes are required.
type StdioOptions struct {
	Server          Opener
	Principal       *access.Principal
	MaxMessageBytes int64         // a larger message is refused, and the pipe stays open
	MaxMessage      func() int    // the current maximum; nil: MaxMessageBytes
	MaxInFlight     int           // concurrent requests, further ones are not read yet; 0: 256
	Grace           time.Duration // time for requests to finish after the input has ended; 0: 2 s
	Log             *slog.Logger  // nil discards
}

// ServeStdio serves the client at the other end of a pair of pipes. Messages are lines, or have
// Content-Length headers if the first one does. It returns when in ends and running requests are
// answered or their grace is over. It also returns when ctx ends; it then cancels running requests
// and closes in if possible. It returns an error if writing to out fails. A read or a write that
// cannot be interrupted is left behind.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, opt StdioOptions) error {
	setDefault(&opt.MaxInFlight, 256)
	setDefault(&opt.Grace, 2*time.Second)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	if c, ok := in.(io.Closer); ok {
		wake := func() { _ = c.Close() }
		defer wake() // we may get here before the AfterFunc of life has begun
		defer context.AfterFunc(life, wake)()
	}
	p := &pipe{opt: opt, turns: make(chan struct{}, opt.MaxInFlight)}
	p.out.broke = cancel
	frames := p.read(life, in)
	var first frameRead
	select {
	case first = <-frames:
	case <-life.Done():
		return nil
	}
	p.out.framing = p.framing
	written := p.out.run(out)
	p.session = opt.Server.Open(Opening{Principal: opt.Principal, Link: &p.out})
	err := p.serve(life, first, frames)
	return p.end(ctx, err, cancel, written)
}

// pipe is one client at the other end of a pair of pipes.
type pipe struct {
	opt     StdioOptions
	framing wire.Framing // known after the first read
	session Session
	out     outbox
	turns   chan struct{} // holds a token for each running request
	calls   sync.WaitGroup
	version string // protocol version; used only by the reading goroutine
}

// writeTime is how long a client may take to read the remaining output at the end.
const writeTime = 30 * time.Second

// end waits for running requests and closes the session.
func (p *pipe) end(ctx context.Context, err error, cancel context.CancelFunc, written <-chan struct{}) error {
	if quiet, ok := p.session.(Quiet); ok {
		quiet.NoMoreComes()
	}
	if ctx.Err() == nil && !p.out.isBroken() {
		grace, done := context.WithTimeout(ctx, p.opt.Grace)
		wait(grace, &p.calls)
		done()
	}
	cancel()
	p.session.Close()
	late, done := context.WithTimeout(context.WithoutCancel(ctx), lastGrace)
	defer done()
	wait(late, &p.calls)
	p.out.close()
	patience := writeTime
	if ctx.Err() != nil {
		patience = lastGrace
	}
	select {
	case <-written:
	case <-time.After(patience):
	}
	switch broken := p.out.err(); {
	case broken != nil:
		return fmt.Errorf("write message: %w", broken)
	case errors.Is(err, io.EOF) || ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("read message: %w", err)
}

// frameRead is the result of a read.
type frameRead struct {
	bytes []byte
	err   error
}

// read reads messages until the input ends or ctx is done.
func (p *pipe) read(ctx context.Context, in io.Reader) <-chan frameRead {
	frames := make(chan frameRead)
	go func() {
		const size = 64 << 10 // as large as wire.Reader's buffer, so that it uses this one
		buffered := bufio.NewReaderSize(in, size)
		p.framing = framingOf(buffered)
		r := wire.NewReader(buffered, p.framing, int(p.opt.MaxMessageBytes))
		r.Limit = p.opt.MaxMessage
		for {
			b, err := r.Next()
			select {
			case frames <- frameRead{b, err}:
			case <-ctx.Done():
				return
			}
			if _, goesOn := errors.AsType[*wire.TooLongError](err); err != nil && !goesOn {
				return
			}
		}
	}()
	return frames
}

// framingOf detects the framing from the start of the first message. No JSON begins like a header.
func framingOf(in *bufio.Reader) wire.Framing {
	const header = "content-"
	for {
		start, err := in.Peek(1)
		if err != nil || !strings.ContainsAny(string(start), " \t\r\n") {
			break
		}
		_, _ = in.Discard(1)
	}
	for n := 1; n <= len(header); n++ {
		start, err := in.Peek(n)
		if err != nil || !strings.EqualFold(string(start), header[:n]) {
			return wire.Lines
		}
	}
	return wire.ContentLength
}

// serve handles messages until none are left.
func (p *pipe) serve(ctx context.Context, f frameRead, frames <-chan frameRead) error {
	for {
		long, tooLong := errors.AsType[*wire.TooLongError](f.err)
		switch {
		case tooLong:
			p.skipped(ctx, long)
		case f.err != nil:
			return f.err
		default:
			p.take(ctx, f.bytes)
		}
		select {
		case f = <-frames:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// skipped reports a message that was too long to the side that waits for it.
func (p *pipe) skipped(ctx context.Context, long *wire.TooLongError) {
	refusal := wire.NewError(wire.CodeInvalidRequest, long.Error()).AppendResponse(nil, long.ID)
	switch {
	case !long.IsCall && !long.ID.IsZero(): // the answer to one of our requests
		if r, err := wire.ParseServer(refusal, 0); err == nil {
			takeIn(ctx, p.opt.Log, p.session, &r, nil)
		}
	case !long.IsCall || !long.ID.IsZero():
		p.out.push(ctx, refusal)
	}
}

// take handles one message or a batch. Requests run concurrently, except initialize, which is
// answered before anything else. Everything else is handled before the next message.
func (p *pipe) take(ctx context.Context, b []byte) {
	if b[0] == '[' && batches(p.version) {
		p.takeBatch(ctx, b)
		return
	}
	msg, bad := wire.ParseClient(b, wire.MaxRequestDepth)
	switch {
	case bad != nil:
		p.out.push(ctx, bad.AppendResponse(nil, msg.ID))
	case msg.Kind() != wire.Request:
		takeIn(ctx, p.opt.Log, p.session, &msg, &pipeResponse{pipe: p, over: true})
	case msg.Method == methodInitialize:
		x := &pipeResponse{pipe: p}
		a := handle(ctx, p.opt.Log, p.session, &msg, x)
		if version := agreed(&a); version != "" {
			p.version = version
		}
		x.answer(ctx, &a)
	default:
		p.start(ctx, &msg, func(x *pipeResponse, a *Answer) { x.answer(ctx, a) })
	}
}

// start runs a request when a slot is free, and passes on its answer.
func (p *pipe) start(ctx context.Context, msg *wire.Message, done func(x *pipeResponse, a *Answer)) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return
	}
	p.calls.Go(func() {
		defer func() { <-p.turns }()
		x := &pipeResponse{pipe: p}
		a := handle(ctx, p.opt.Log, p.session, msg, x)
		done(x, &a)
	})
}

// takeBatch handles several messages and answers them together.
func (p *pipe) takeBatch(ctx context.Context, b []byte) {
	batch, bad := readBatch(b)
	if bad != nil {
		p.out.push(ctx, bad.AppendResponse(nil, wire.ID{}))
		return
	}
	var mu sync.Mutex
	answers, left := batch.invalid, batch.requests // guarded by mu
	for i := range batch.messages {
		msg := &batch.messages[i]
		if msg.Kind() != wire.Request {
			takeIn(ctx, p.opt.Log, p.session, msg, &pipeResponse{pipe: p, over: true})
			continue
		}
		p.start(ctx, msg, func(x *pipeResponse, a *Answer) {
			x.finish()
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, a)
			if left--; left == 0 {
				p.answerBatch(ctx, answers)
			}
		})
	}
	if batch.requests == 0 {
		p.answerBatch(ctx, answers)
	}
}

func (p *pipe) answerBatch(ctx context.Context, answers []*Answer) {
	if body := joinAnswers(answers); body != nil {
		p.out.push(ctx, body)
	}
}
