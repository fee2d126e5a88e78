package downstream

import (
	"context"
	"io"
	"net/http"
	"sync"

	"secateur/internal/access"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// Limits for messages waiting to be written to a pipe. The message that exceeds a limit is the last
// one accepted.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 8 << 20
)

// outbox writes messages to a pipe, one at a time and in order. It is a Link.
type outbox struct {
	framing wire.Framing
	broke   func() // called when a write fails

	mu      sync.Mutex
	waiting []rpchttp.Buffer // guarded by mu, like all below
	bytes   int
	closed  bool // no further messages are accepted
	broken  error
	wake    chan struct{} // holds a token when work is pending
	room    chan struct{} // closed when something was written; nil: no waiter
}

// run starts writing. The channel is closed when everything is written or a write has failed.
func (o *outbox) run(out io.Writer) <-chan struct{} {
	o.wake = make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			next, ok := o.next()
			if !ok {
				return
			}
			_, err := out.Write(next.Bytes)
			o.written(next, err)
			if err != nil {
				return
			}
		}
	}()
	return done
}

// next waits for a message; false if none will come.
func (o *outbox) next() (rpchttp.Buffer, bool) {
	for {
		o.mu.Lock()
		if len(o.waiting) > 0 {
			next := o.waiting[0]
			o.mu.Unlock()
			return next, true
		}
		closed := o.closed
		o.mu.Unlock()
		if closed {
			return rpchttp.Buffer{}, false
		}
		<-o.wake
	}
}

func (o *outbox) written(b rpchttp.Buffer, err error) {
	o.mu.Lock()
	o.bytes -= len(b.Bytes)
	o.waiting[0] = rpchttp.Buffer{}
	if o.waiting = o.waiting[1:]; len(o.waiting) == 0 {
		o.waiting = nil
	}
	o.broken = err
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
	o.mu.Unlock()
	b.Release()
	if err != nil {
		o.broke()
	}
}

// Send queues a message, unless the outbox is full.
func (o *outbox) Send(msg []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isFull() {
		return false
	}
	return o.add(msg)
}

// Heard reports whether the pipe still accepts messages.
func (o *outbox) Heard() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.closed && o.broken == nil
}

// push queues a message as soon as the outbox has space.
func (o *outbox) push(ctx context.Context, msg []byte) {
	o.mu.Lock()
	for o.isFull() && o.broken == nil && !o.closed {
		if o.room == nil {
			o.room = make(chan struct{})
		}
		room := o.room
		o.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
		o.mu.Lock()
	}
	o.add(msg)
	o.mu.Unlock()
}

func (o *outbox) isFull() bool { return len(o.waiting) >= maxWaiting || o.bytes >= maxWaitingBytes }

// add queues a message in its framing. The caller holds mu.
func (o *outbox) add(msg []byte) bool {
	if o.closed || o.broken != nil {
		return false
	}
	const header = 40 // for Content-Length, or the line break
	b := rpchttp.Grab(len(msg) + header)
	b.Bytes = o.framing.AppendFrame(b.Bytes, msg)
	o.waiting = append(o.waiting, b)
	o.bytes += len(b.Bytes)
	o.rouse()
	return true
}

func (o *outbox) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close accepts no further messages. Queued ones are still written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.rouse()
}

func (o *outbox) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

func (o *outbox) isBroken() bool { return o.err() != nil }

// pipeResponse is the Exchange of one message on a pipe.
type pipeResponse struct {
	*pipe
	mu   sync.Mutex
	over bool // guarded by mu; the answer has been sent
}

// Send sends a message before the answer.
func (x *pipeResponse) Send(msg []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.over && x.out.Send(msg)
}

// Header returns nil: a pipe has no HTTP request.
func (x *pipeResponse) Header() http.Header { return nil }

// Principal returns the owner of the pipe.
func (x *pipeResponse) Principal() *access.Principal { return x.opt.Principal }

// Streams reports that messages can be sent before the answer.
func (x *pipeResponse) Streams() bool { return true }

// Heard reports whether the pipe still accepts messages.
func (x *pipeResponse) Heard() bool { return x.out.Heard() }

// finish prevents messages after the answer.
func (x *pipeResponse) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
}

// answer sends the answer.
func (x *pipeResponse) answer(ctx context.Context, a *Answer) {
	x.finish()
	if len(a.Body) > 0 {
		x.out.push(ctx, a.Body)
	}
	a.free()
}
