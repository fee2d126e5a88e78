package app

import (
	"net"
	"sync"
	"time"
)

// waitingConn sets the read deadline only while a read waits or is about to. net/http sets it four
// times per request, and the bound on a body's time twice more. Each would move a timer, although a
// small request arrives with its first byte.
type waitingConn struct {
	net.Conn

	mu      sync.Mutex // guards the fields below, and orders them with Conn's deadline
	wanted  time.Time
	set     time.Time // Conn's deadline
	readers int       // reads that wait or are about to
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

// SetReadDeadline sets the deadline for reads, including those in progress.
func (c *waitingConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = t
	if c.readers == 0 {
		return nil
	}
	return c.apply()
}

// apply sets Conn's deadline. The caller holds the lock.
func (c *waitingConn) apply() error {
	if c.wanted.Equal(c.set) {
		return nil
	}
	c.set = c.wanted
	return c.Conn.SetReadDeadline(c.wanted)
}

// SetDeadline sets the deadline for reads and writes.
func (c *waitingConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
