package lane

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

// headBytes is how long a usual request's header may be, with what has come of its body.
const headBytes = 4 << 10

// What a connection is doing.
const (
	isNew    int32 = iota // no request has come yet
	isIdle                // the one before was answered
	isActive              // a request is under way
	isGone                // closed, or handed over
)

// conn is a connection that is served here.
type conn struct {
	peer   net.Conn // the client
	in     *Listener
	made   time.Time
	remote string
	state  atomic.Int32

	ctx    context.Context //nolint:containedctx // ends with the connection
	cancel context.CancelFunc
	source source
	reader *bufio.Reader
	handed bool // it is no longer ours to close
}

func newConn(l *Listener, nc net.Conn) *conn {
	c := &conn{peer: nc, in: l, made: time.Now()}
	if addr := nc.RemoteAddr(); addr != nil {
		c.remote = addr.String()
	}
	c.ctx, c.cancel = context.WithCancel(l.ctx)
	c.source = source{from: nc}
	c.reader = bufio.NewReaderSize(&c.source, headBytes)
	return c
}

// source is what comes from a client: first the byte that was read to see whether it is still there, if that found one.
type source struct {
	from net.Conn
	byte [1]byte
	has  bool
}

func (s *source) Read(p []byte) (int, error) {
	if s.has && len(p) > 0 {
		s.has = false
		p[0] = s.byte[0]
		return 1, nil
	}
	return s.from.Read(p)
}

// found is that byte.
func (s *source) found() []byte {
	if s.has {
		return s.byte[:]
	}
	return nil
}

// serve answers requests until one comes that is not a usual one, or none any more.
func (c *conn) serve() {
	defer c.end()
	for c.wait() {
		begun, _ := c.reader.Peek(c.reader.Buffered())
		if !isUsual(begun) {
			c.handOver(begun)
			return
		}
		if !c.activate() {
			return
		}
		r, err := http.ReadRequest(c.reader)
		if err != nil { // net/http has the words for it; nothing was read over what has begun
			c.state.Store(isIdle)
			c.handOver(begun)
			return
		}
		if !c.exchange(r) {
			return
		}
		c.tell(http.StateIdle)
		c.state.Store(isIdle)
	}
}

// wait waits until a request begins; false: none does.
func (c *conn) wait() bool {
	first := 1
	if c.state.Load() != isNew {
		first = maxBlank
	}
	if c.reader.Buffered() < first {
		_ = c.peer.SetReadDeadline(c.until())
	}
	begun, err := c.reader.Peek(first)
	if err != nil {
		return false
	}
	_ = c.peer.SetReadDeadline(time.Time{})
	if first == maxBlank {
		_, _ = c.reader.Discard(len(begun) - len(bytes.TrimLeft(begun, "\r\n")))
	}
	return true
}

// maxBlank is how many ends of lines may stand between two requests: some clients send one behind a body. It is what net/http bears with.
const maxBlank = 4

// until is when a connection has been left unused for too long.
func (c *conn) until() time.Time {
	d := c.in.web.IdleTimeout
	if c.state.Load() == isNew {
		d = c.in.web.ReadHeaderTimeout
	}
	if d <= 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// activate begins a request; false: the connection was closed meanwhile.
func (c *conn) activate() bool {
	before := c.state.Load()
	if before == isGone || !c.state.CompareAndSwap(before, isActive) {
		return false
	}
	c.tell(http.StateActive)
	return true
}

// leave closes a connection that nobody uses; one that has just been made may be about to be.
func (c *conn) leave() {
	state := c.state.Load()
	if state == isNew && time.Since(c.made) < newMay || state >= isActive {
		return
	}
	if c.state.CompareAndSwap(state, isGone) {
		_ = c.peer.Close()
	}
}

// handOver gives the connection to net/http, with what has begun on it.
func (c *conn) handOver(begun []byte) {
	before := c.state.Load()
	if before == isGone || !c.state.CompareAndSwap(before, isGone) {
		return
	}
	c.in.remove(c)
	c.handed = true
	c.in.handOver(&handed{Conn: c.peer, begun: slices.Concat(begun, c.source.found())})
}

// end lets go of a connection, and of what a handler that should not have panicked has left.
func (c *conn) end() {
	if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
		c.in.logf("http: panic serving %v: %v\n%s", c.remote, p, debug.Stack())
	}
	c.cancel()
	if c.handed {
		return
	}
	c.in.remove(c)
	_ = c.peer.Close()
	c.tell(http.StateClosed)
}

func (c *conn) tell(state http.ConnState) {
	if hook := c.in.web.ConnState; hook != nil {
		hook(c.peer, state)
	}
}

// handed is a connection of which something was read.
type handed struct {
	net.Conn
	begun []byte
}

// NetConn is the connection as it was accepted.
func (h *handed) NetConn() net.Conn { return h.Conn }

func (h *handed) Read(p []byte) (int, error) {
	if len(h.begun) > 0 {
		n := copy(p, h.begun)
		if h.begun = h.begun[n:]; len(h.begun) == 0 {
			h.begun = nil
		}
		return n, nil
	}
	return h.Conn.Read(p)
}
