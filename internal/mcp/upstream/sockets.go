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

// sockets tracks the open TCP connections, so that all can be closed at once.
type sockets struct {
	once atomic.Bool // the server does not keep connections open: use each for one request

	mu     sync.Mutex
	open   map[*socket]struct{} // guarded by mu
	closed bool                 // guarded by mu
}

// socket also detects whether the server keeps connections open. A server that closes them right
// after its answers, without announcing it, loses requests written at that moment. We cannot tell
// whether it read them.
type socket struct {
	net.Conn
	set   *sockets
	heard atomic.Int64 // time of the last read, in nanoseconds since epoch; 0 after a write
}

// epoch is the origin of times stored as numbers. It uses the monotonic clock.
var epoch = time.Now()

// keptAtLeast is how long a server with persistent connections keeps an idle one.
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

// noteEnd records that the server has closed the connection.
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

// Close also removes the connection from the set.
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
