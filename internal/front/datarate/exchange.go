package datarate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// exchange is a running request with its deadlines.
type exchange struct {
	guard   *Guard
	conn    conn
	in      body
	out     writer
	hasBody bool
	drains  bool // over HTTP/1, net/http reads the rest of the body
	lifts   bool // deadlines are cleared after a write, see endWrite

	next, prev *exchange // in the Guard's ring

	mu       sync.Mutex // guards the fields below, and serializes deadlines with Drain
	reading  bool       // the handler reads the body
	writing  bool
	draining bool // net/http reads the rest of the body while it writes the header
	bodyDone bool // no more of the body will be read
	whole    bool // the whole body was read
	begun    bool // the header is written, or about to be
	duplex   bool // the body is read while the response is written

	writeDue time.Time // last write deadline; zero: none, or cleared
}

// conn sets a connection's deadlines. A test's writer may not support them.
type conn interface {
	SetReadDeadline(deadline time.Time) error
	SetWriteDeadline(deadline time.Time) error
}

// connOf returns the connection of a response.
func connOf(w http.ResponseWriter) conn {
	if c, ok := w.(conn); ok {
		return c // net/http's own
	}
	return http.NewResponseController(w)
}

func (e *exchange) pause() time.Duration { return time.Duration(e.guard.pause.Load()) }

// startRead sets the deadline of a read: after a pause, or when the average rate becomes too low.
func (e *exchange) startRead(began time.Time, read int64) error {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	limits := &e.guard.limits
	due := began.Add(limits.Pause + time.Duration(read/int64(limits.BytesPerSecond))*time.Second)
	if silence := now.Add(e.pause()); silence.Before(due) {
		due = silence
	}
	_ = e.conn.SetReadDeadline(due)
	if !now.Before(due) { // too slow on average, even if more has arrived by now
		e.bodyDone = true
		return ErrTooSlow
	}
	e.reading = true
	return nil
}

// endRead clears the deadline, so that the server notices when the client closes. After a timeout
// it stays, or net/http would wait for the rest.
func (e *exchange) endRead(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading = false
	e.bodyDone = e.bodyDone || err != nil
	e.whole = e.whole || errors.Is(err, io.EOF)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		_ = e.conn.SetReadDeadline(time.Time{})
	}
}

// outruns reports whether the response begins before the body has ended, on a reusable connection.
func (e *exchange) outruns() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.duplex && e.drains && e.hasBody && !e.whole
}

// startWrite sets the deadline of a write. Before the header, net/http reads the rest of the body,
// and would wait for it forever.
func (e *exchange) startWrite() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing = true
	e.draining = !e.begun && !e.duplex && e.hasBody && !e.bodyDone
	e.setWriting()
}

// setWriting sets the deadlines of a write, from now. The caller holds mu.
func (e *exchange) setWriting() {
	now, pause := time.Now(), e.pause()
	// else it was just set
	if due := now.Add(pause); due.Before(e.writeDue) || due.Sub(e.writeDue) > pause/64 {
		_ = e.conn.SetWriteDeadline(due)
		e.writeDue = due
	}
	if e.draining {
		_ = e.conn.SetReadDeadline(now.Add(pause / 3)) // leaves time to write
	}
}

// endWrite clears the deadline if its expiry would do harm. Over HTTP/2 it ends the stream, and TLS
// may write on its own. On a plain connection it affects only the next write, which sets its own.
func (e *exchange) endWrite() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lifts {
		_ = e.conn.SetWriteDeadline(time.Time{})
		e.writeDue = time.Time{}
	}
	if e.draining {
		_ = e.conn.SetReadDeadline(time.Time{})
	}
	e.writing, e.draining, e.begun = false, false, true
}

// end sets deadlines for net/http after the handler has returned: it writes buffered data, and
// reads the rest of the body.
func (e *exchange) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing, e.draining = true, e.drains && e.hasBody && !e.bodyDone
	e.setWriting()
}

// shorten moves the current deadlines forward to the current pause.
func (e *exchange) shorten() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading {
		_ = e.conn.SetReadDeadline(time.Now().Add(e.pause()))
	}
	if e.writing {
		e.setWriting()
	}
}
