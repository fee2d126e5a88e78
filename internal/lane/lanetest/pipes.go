// Package lanetest has what tests of connections share.
package lanetest

import (
	"net"
	"sync"
)

// Pipes is a listener of connections in memory: it accepts what is put into Conns.
type Pipes struct {
	Conns chan net.Conn

	done chan struct{}
	once sync.Once
}

// NewPipes returns one that nobody has connected to.
func NewPipes() *Pipes { return &Pipes{Conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects to it.
func (p *Pipes) Dial() net.Conn {
	ours, theirs := net.Pipe()
	p.Conns <- theirs
	return ours
}

// Accept waits for a connection.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.Conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close accepts no more.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr is none.
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{} }
