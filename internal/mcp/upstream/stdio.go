package upstream

// MCP, "Transports", stdio: the client's side.

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"secateur/internal/mcp/child"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// pipes is the link to a child process over its standard input and output.
type pipes struct {
	s       *connection
	framing wire.Framing
	proc    *child.Process
	room    *semaphore.Weighted // bytes in queue; every message weighs at least minWeight
	queue   chan outgoing       // has capacity for all messages that room admits
	work    workers
	closing chan struct{} // closed to stop writing
	ended   chan struct{} // closed when the child's output has ended
	close1  sync.Once
}

const (
	queueBytes    = 16 << 20
	queueMessages = 1024
	minWeight     = queueBytes / queueMessages
)

// openPipes starts the child.
func openPipes(ctx context.Context, s *connection) (link, error) {
	set := s.u.opt.Settings
	box, err := s.u.sandbox(ctx)
	if err != nil {
		return nil, err
	}
	proc, err := child.Start(child.Program{ //nolint:contextcheck // a child's end belongs to no request
		ID: set.ID, Command: set.Command, BaseEnv: s.u.opt.BaseEnv, Env: set.Env, Dir: set.Cwd, Sandbox: box,
		Grace: s.u.shutdownGrace(), Kill: s.u.opt.Kill, Log: s.u.log, Stderr: s.u.opt.Stderr,
	})
	if err != nil {
		return nil, s.u.errorf(Unavailable, "%v", err)
	}
	s.u.log.DebugContext(ctx, "server started", "pid", proc.PID())
	framing := wire.Lines
	if set.Framing == FramingContentLength {
		framing = wire.ContentLength
	}
	s.proc = proc
	s.u.newest.Store(proc)
	return &pipes{
		s: s, framing: framing, proc: proc,
		room: semaphore.NewWeighted(queueBytes), queue: make(chan outgoing, queueMessages),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}, nil
}

func (p *pipes) run(ctx context.Context) error {
	p.work.run(p.write)
	p.work.run(func() {
		<-p.proc.Ended()
		_ = p.proc.Stdout.SetReadDeadline(time.Now().Add(child.DrainTime))
	})
	p.read(ctx)
	close(p.ended)
	return p.err()
}

// err returns how the child ended, or that only its output did.
func (p *pipes) err() error {
	if how, ok := p.proc.Status(statusWait); ok {
		return errors.New(how)
	}
	return errors.New("it closed its standard output")
}

// statusWait is how long callers wait for the exit status after the child's output has ended.
const statusWait = time.Second

// read reads messages from the child's output until it ends.
func (p *pipes) read(ctx context.Context) {
	r := wire.NewReader(p.proc.Stdout, p.framing, 0)
	r.Limit = p.s.u.maxMessage
	r.Room = p.s.u.newRoom().take
	for {
		raw, err := r.Next()
		if err == nil && r.Ragged() && rawjson.Check(raw, wire.MaxResultDepth) != nil {
			continue // it died while writing; the waiting call gets that error
		}
		if err == nil {
			p.s.receive(ctx, raw, source{})
			continue
		}
		long := (*wire.TooLongError)(nil)
		if !errors.As(err, &long) {
			return
		}
		p.s.tooLong(ctx, long)
	}
}

// send puts a message into the queue. A server that does not read blocks only its own callers.
func (p *pipes) send(ctx context.Context, m outgoing) error {
	weight := p.weight(m)
	if !p.room.TryAcquire(weight) {
		if m.patience == 0 {
			return errors.New("it does not read its messages")
		}
		if err := p.waitForRoom(ctx, m.patience, weight); err != nil {
			return err
		}
	}
	p.queue <- m
	return nil
}

func (p *pipes) waitForRoom(ctx context.Context, patience time.Duration, weight int64) error {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.work.run(func() {
		select {
		case <-p.ended:
			cancel()
		case <-wait.Done():
		}
	})
	switch err := p.room.Acquire(wait, weight); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(wait.Err(), context.DeadlineExceeded):
		return p.s.u.timeoutError(patience)
	default:
		return p.s.u.callError(p.err())
	}
}

func (p *pipes) weight(m outgoing) int64 {
	return min(max(int64(len(m.message)), minWeight), queueBytes)
}

// write sends the queued messages in order.
func (p *pipes) write() {
	var frame []byte
	for {
		var m outgoing
		select {
		case <-p.closing:
			return
		case m = <-p.queue:
		}
		if m.call == nil || m.call.stage.CompareAndSwap(queued, sent) {
			frame = p.framing.AppendFrame(frame[:0], m.message)
			if n, err := p.proc.Stdin.Write(frame); err != nil && n == 0 && m.call != nil {
				m.call.stage.Store(queued) // the child has seen nothing of it
			}
		}
		p.room.Release(p.weight(m))
		if cap(frame) > 1<<20 {
			frame = nil
		}
	}
}

// close stops the child and all goroutines of the link.
func (p *pipes) close() {
	p.close1.Do(func() {
		close(p.closing)
		p.proc.Stop()
		p.work.close()
	})
}
