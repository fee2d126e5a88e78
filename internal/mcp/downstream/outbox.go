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

// Bounds of what waits to be written to a pipe; the message that passes a bound is the last.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 8 << 20
)

// outbox writes messages to a pipe, one at a time, in the order in which they came. It is a Link.
type outbox struct {
	framing wire.Framing
	broke   func() // called when the pipe takes no more

	mu      sync.Mutex
	waiting []rpchttp.Buffer // guarded by mu, like all below
	bytes   int
	closed  bool // nothing more comes
	broken  error
	wake    chan struct{} // holds a token when there is something to do
	room    chan struct{} // closed when something was written; nil: nobody waits for that
}

// run begins to write. The channel is closed when all is written, or cannot be.
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

// next waits for a message; false: there is none any more.
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

// Send hands a message over, unless too many are waiting.
func (o *outbox) Send(msg []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isFull() {
		return false
	}
	return o.add(msg)
}

// Heard reports whether the pipe still takes messages.
func (o *outbox) Heard() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.closed && o.broken == nil
}

// push hands a message over when there is room for it.
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

// add queues a message as it goes over the pipe. With the lock.
func (o *outbox) add(msg []byte) bool {
	if o.closed || o.broken != nil {
		return false
	}
	const header = 40 // of Content-Length, or the line break
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

// close says that nothing more comes. What waits is written.
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

// pipeResponse is what is around one message of a pipe.
type pipeResponse struct {
	*pipe
	mu   sync.Mutex
	over bool // the answer was given; guarded by mu
}

// Send puts a message ahead of the answer.
func (x *pipeResponse) Send(msg []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.over && x.out.Send(msg)
}

// Header is that of no HTTP request.
func (x *pipeResponse) Header() http.Header { return nil }

// Principal is who the pipe belongs to.
func (x *pipeResponse) Principal() *access.Principal { return x.opt.Principal }

// Streams reports that messages can go ahead of the answer.
func (x *pipeResponse) Streams() bool { return true }

// Heard reports whether the pipe still takes messages.
func (x *pipeResponse) Heard() bool { return x.out.Heard() }

// finish lets nothing through behind the answer.
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
