package upstream

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sockets are the TCP connections that are open, so that they can be ended at once.
type sockets struct {
	once atomic.Bool // the server does not keep them: each is used for one request

	mu     sync.Mutex
	open   map[*socket]struct{} // guarded by mu
	closed bool                 // guarded by mu
}

// socket also finds out whether the server keeps connections. One that closes them right after its answers,
// without saying so, loses what is written to them in that moment, and nobody can tell whether it was read.
type socket struct {
	net.Conn
	set   *sockets
	heard atomic.Int64 // when something was last read, in nanoseconds since epoch; 0 after a write
}

// epoch is what times that are kept as numbers are counted from: by the monotonic clock, which does not step.
var epoch = time.Now()

// keptAtLeast is how long a server that keeps connections keeps an idle one.
const keptAtLeast = time.Second

func (c *socket) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(int64(time.Since(epoch)))
	}
	if err != nil && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) {
		c.noteEnd()
	}
	return n, err
}

// noteEnd notes that the server has closed the connection.
func (c *socket) noteEnd() {
	if heard := c.heard.Load(); heard != 0 && time.Since(epoch)-time.Duration(heard) < keptAtLeast {
		c.set.once.Store(true)
	}
}

func (c *socket) Write(p []byte) (int, error) {
	c.heard.Store(0)
	return c.Conn.Write(p)
}

func (c *sockets) track(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	tracked := &socket{Conn: conn, set: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if c.open == nil {
		c.open = map[*socket]struct{}{}
	}
	c.open[tracked] = struct{}{}
	return tracked, nil
}

// Close also forgets the connection.
func (c *socket) Close() error {
	c.set.mu.Lock()
	delete(c.set.open, c)
	c.set.mu.Unlock()
	return c.Conn.Close()
}

func (c *sockets) close() {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Conn.Close()
	}
}
