package app

import (
	"net"
	"sync"
	"time"
)

// waitingConn sets the deadline of reads when somebody is about to wait for one, or does. net/http sets it four times for each request, and
// whoever bounds the time that a body takes twice more; each time a timer is moved, though what a small request consists of has come
// with its first byte.
type waitingConn struct {
	net.Conn

	mu      sync.Mutex // guards the fields below, and orders them with the deadline of Conn
	wanted  time.Time
	set     time.Time // of Conn
	readers int       // that wait, or are about to
}

// Read reads under the deadline that was set last.
func (c *waitingConn) Read(p []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.leave()
	return n, err
}

func (c *waitingConn) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.apply(); err != nil {
		return err
	}
	c.readers++
	return nil
}

func (c *waitingConn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers--
}

// SetReadDeadline ends reads at that time, those that wait already among them.
func (c *waitingConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = t
	if c.readers == 0 {
		return nil
	}
	return c.apply()
}

// apply is called with the lock held.
func (c *waitingConn) apply() error {
	if c.wanted.Equal(c.set) {
		return nil
	}
	c.set = c.wanted
	return c.Conn.SetReadDeadline(c.wanted)
}

// SetDeadline ends reads and writes.
func (c *waitingConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
