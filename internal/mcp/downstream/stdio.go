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

// StdioOptions say how a pair of pipes is served. Server and MaxMessageBytes are needed.
type StdioOptions struct {
	Server          Opener
	Principal       *access.Principal
	MaxMessageBytes int64         // a larger message is refused, and the pipe goes on
	MaxMessage      func() int    // the same, as it is at the moment; nil: MaxMessageBytes
	MaxInFlight     int           // requests that run at once, the next wait to be read; 0: 256
	Grace           time.Duration // what requests have to end once nothing more comes in; 0: 2 s
	Log             *slog.Logger  // nil discards
}

// ServeStdio serves the client at the other end of a pair of pipes: messages line by line, or with Content-Length
// headers if that is how the first one comes. It ends when in does, once what runs is answered or its grace is over,
// or when ctx does: then what runs is cut short, and in is closed where it can be. It ends with an error if out takes
// no more. A read or a write that nothing wakes is left behind.
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
		defer wake() // whoever is woken by life may be back here before its AfterFunc has begun
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
	framing wire.Framing // known once something was read
	session Session
	out     outbox
	turns   chan struct{} // holds a token for each request that runs
	calls   sync.WaitGroup
	version string // of the protocol; for the goroutine that reads alone
}

// writeTime is how long a client may take to read what is left when all else is over.
const writeTime = 30 * time.Second

// end lets what runs come to its end, and closes the session.
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

// frameRead is what a read gave.
type frameRead struct {
	bytes []byte
	err   error
}

// read reads until there is an end, or ctx is done.
func (p *pipe) read(ctx context.Context, in io.Reader) <-chan frameRead {
	frames := make(chan frameRead)
	go func() {
		const size = 64 << 10 // what a wire.Reader wants, so that it takes this one as it is
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

// framingOf looks at how the first message begins. No JSON begins like a header.
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

// serve takes messages until there are none.
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

// skipped tells whoever waits for it of a message that was too long to be read.
func (p *pipe) skipped(ctx context.Context, long *wire.TooLongError) {
	refusal := wire.NewError(wire.CodeInvalidRequest, long.Error()).AppendResponse(nil, long.ID)
	switch {
	case !long.IsCall && !long.ID.IsZero(): // the answer to a question of ours
		if r, err := wire.ParseServer(refusal, 0); err == nil {
			takeIn(ctx, p.opt.Log, p.session, &r, nil)
		}
	case !long.IsCall || !long.ID.IsZero():
		p.out.push(ctx, refusal)
	}
}

// take takes one message, or a batch. Requests run side by side, but for initialize: nothing goes before it is
// answered. Everything else is taken before the next message is.
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

// start lets a request run when it is its turn, and hands its answer over.
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

// takeBatch takes several messages, and answers them together.
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
