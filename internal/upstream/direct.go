package upstream

// RFC 9112, HTTP/1.1 over TCP, a client's side. Requests are written in directpost.go; answers are read in directanswer.go
// where they are as most are, and else by net/http.

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// direct sends small requests over plain TCP from the goroutine that makes them, on connections that it keeps. Those of
// http.Transport have two goroutines each, and to hand a small call to them and back takes longer than all else that is done for it.
// What those are for is not needed here: a request that fits into the socket's buffer is written before its answer is read, and
// a connection that the server has closed meanwhile is found out when it is taken again.
type direct struct {
	dial func(ctx context.Context) (net.Conn, error)
	keep time.Duration // how long a connection is kept that nobody uses

	start atomic.Pointer[startLines] // of the newest requests; nil: there was none

	mu     sync.Mutex
	idle   []*directConn // guarded by mu; last the one that was used last
	reaper *time.Timer   // guarded by mu; closes what was kept for too long; nil: nothing was kept yet
	closed bool          // guarded by mu; no more are kept
}

const (
	maxIdle        = 1024
	maxHeader      = 256 << 10 // bytes of an answer's header
	maxPreliminary = 5         // answers of 1xx before the real one
)

var (
	errLongHeader  = errors.New("net/http: server response headers exceeded the limit")  // in the words of net/http
	errPreliminary = errors.New("malformed HTTP response: too many preliminary answers") //
	errBodyClosed  = errors.New("the response was closed")
)

// directConn is one connection. It belongs to one request, and its response's body, at a time.
type directConn struct {
	net.Conn
	of    *direct
	in    *bufio.Reader
	out   []byte // the request
	room  int64  // bytes that may still be read
	wrote bool   // something of the request
	since time.Time
	peek  func() peeked

	hangUp func() // closes it
}

// peeked is what can be known of a connection without reading from it.
type peeked int

const (
	connOpen   peeked = iota // it is open, and nothing has come
	connEnded                // the server has closed it
	connBroken               // something came that nobody has asked for, or it cannot be known
)

// directPost is a request.
type directPost struct {
	to     *url.URL
	header http.Header // its names are those of the protocol and of the configuration
	body   []byte      // to be read until roundTrip returns
	once   bool        // the connection is not to be used again
}

// roundTrip sends a request and returns with the header of its answer. A request that met a kept connection in the moment
// of its end, so that nothing of it was written, is sent on another.
func (d *direct) roundTrip(ctx context.Context, p directPost) (*http.Response, error) {
	start, err := d.startOf(p.to)
	if err != nil {
		return nil, err
	}
	for {
		c, err := d.get(ctx)
		if err != nil {
			return nil, err
		}
		kept := !c.since.IsZero()
		body := &directBody{c: c, forget: afterEnd(ctx, c.hangUp)}
		resp, err := c.exchange(start, &p, body)
		if err == nil {
			body.keep(resp, p.once)
			return resp, nil
		}
		body.end(false, err)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !kept || c.wrote {
			return nil, err
		}
	}
}

// get takes a connection that is kept, or makes one.
func (d *direct) get(ctx context.Context) (*directConn, error) {
	for {
		c := d.last()
		if c == nil {
			break
		}
		if time.Since(c.since) < d.keep && c.peek() == connOpen {
			c.wrote = false
			return c, nil
		}
		_ = c.Close()
	}
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &directConn{Conn: conn, of: d, peek: peeker(conn)}
	c.in, c.hangUp = bufio.NewReader(c), func() { _ = c.Close() }
	return c, nil
}

func (d *direct) last() *directConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.idle)
	if n == 0 {
		return nil
	}
	c := d.idle[n-1]
	d.idle[n-1] = nil
	d.idle = d.idle[:n-1]
	return c
}

// put keeps a connection for the next request.
func (d *direct) put(c *directConn) {
	c.since = time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.idle) == maxIdle {
		_ = c.Close()
		return
	}
	d.idle = append(d.idle, c)
	switch {
	case d.reaper == nil:
		d.reaper = time.AfterFunc(d.keep, d.reap)
	case len(d.idle) == 1:
		d.reaper.Reset(d.keep)
	}
}

// reap closes what was kept for too long.
func (d *direct) reap() {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.idle) && time.Since(d.idle[n].since) >= d.keep {
		_ = d.idle[n].Close()
		n++
	}
	d.idle = append(d.idle[:0], d.idle[n:]...)
	if len(d.idle) > 0 {
		d.reaper.Reset(d.keep - time.Since(d.idle[0].since))
	}
}

// close ends what is kept, and keeps nothing any more.
func (d *direct) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, c := range d.idle {
		_ = c.Close()
	}
	d.idle = nil
	if d.reaper != nil {
		d.reaper.Stop()
	}
}

// exchange writes a request and reads the header of its answer.
func (c *directConn) exchange(start []byte, p *directPost, body *directBody) (*http.Response, error) {
	var err error
	if c.out, err = p.appendTo(append(c.out[:0], start...)); err != nil {
		return nil, err
	}
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	c.room = maxHeader
	length, usual, err := c.readUsualHeader()
	if err != nil {
		return nil, err
	}
	if usual {
		c.room = math.MaxInt64
		return body.usual(length), nil
	}
	return c.readResponse(&http.Request{Method: http.MethodPost, URL: p.to, Header: p.header})
}

// readResponse reads the header of any answer.
func (c *directConn) readResponse(req *http.Request) (*http.Response, error) {
	for range maxPreliminary {
		resp, err := http.ReadResponse(c.in, req)
		if err != nil && c.room == 0 {
			return nil, errLongHeader
		}
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.room = math.MaxInt64
			return resp, nil
		}
	}
	return nil, errPreliminary
}

func (c *directConn) Read(p []byte) (int, error) {
	if c.room == 0 {
		return 0, errLongHeader
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.room)])
	c.room -= int64(n)
	return n, err
}

func (c *directConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wrote = c.wrote || n > 0
	return n, err
}

// directBody is an answer's content. When it has been read, its connection can be used again.
type directBody struct {
	io.ReadCloser
	c      *directConn
	forget func() bool // the context no longer ends the connection; false: it has
	reuse  bool        // the connection lives on

	resp  http.Response // the answer, if its header is the usual one
	sized sizedBody     // and its content

	done atomic.Bool
	err  error // of reads when it is done; written before that
}

// keep makes it the content of an answer.
func (b *directBody) keep(resp *http.Response, once bool) {
	b.reuse = !resp.Close && !once && resp.StatusCode != http.StatusSwitchingProtocols
	if resp.Body == http.NoBody {
		b.end(true, io.EOF)
		return
	}
	b.ReadCloser, resp.Body = resp.Body, b
}

func (b *directBody) Read(p []byte) (int, error) {
	if b.done.Load() {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(errors.Is(err, io.EOF), err)
	}
	return n, err
}

// Close may be called while somebody reads, who is then told so.
func (b *directBody) Close() error {
	b.end(false, errBodyClosed)
	return nil
}

// end gives the connection back, or ends it.
func (b *directBody) end(whole bool, err error) {
	if b.done.Load() {
		return
	}
	b.c.of.mu.Lock()
	first := !b.done.Load()
	if first {
		b.err = err
		b.done.Store(true)
	}
	b.c.of.mu.Unlock()
	if !first {
		return
	}
	if b.forget() && whole && b.reuse && b.c.in.Buffered() == 0 {
		b.c.of.put(b.c)
		return
	}
	_ = b.c.Close()
}

// peeker looks into a connection's socket.
func peeker(conn net.Conn) func() peeked {
	s, ok := conn.(*socket)
	if !ok {
		return func() peeked { return connBroken }
	}
	under, ok := s.Conn.(syscall.Conn)
	if !ok {
		return func() peeked { return connBroken }
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return func() peeked { return connBroken }
	}
	var seen peeked
	look := func(fd uintptr) bool {
		seen = peekSocket(fd)
		return true
	}
	return func() peeked {
		if err := raw.Read(look); err != nil {
			return connBroken
		}
		if seen == connEnded {
			s.noteEnd()
		}
		return seen
	}
}
