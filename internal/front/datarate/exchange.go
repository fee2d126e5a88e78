package datarate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// exchange is a request under way: its deadlines, and who waits under one.
type exchange struct {
	guard   *Guard
	conn    conn
	in      body
	out     writer
	hasBody bool
	drains  bool // net/http reads what a handler has left of the body: over HTTP/1
	lifts   bool // a deadline is taken away after a write, see endWrite

	next, prev *exchange // in the Guard's ring

	mu       sync.Mutex // guards the fields below, and orders deadlines with Drain
	reading  bool       // of the body, by the handler
	writing  bool
	draining bool // net/http reads what the handler has left of the body while it writes the header
	bodyDone bool // nothing more is to come
	whole    bool // all of the body has
	begun    bool // the header is written, or about to be
	duplex   bool // the body is read while the answer is written

	writeDue time.Time // the deadline of writes as last set; zero: none, or it was lifted
}

// conn is what of a connection can be set. A test's writer may know nothing of the kind.
type conn interface {
	SetReadDeadline(deadline time.Time) error
	SetWriteDeadline(deadline time.Time) error
}

// connOf is the connection that an answer is written to.
func connOf(w http.ResponseWriter) conn {
	if c, ok := w.(conn); ok {
		return c // net/http's own
	}
	return http.NewResponseController(w)
}

func (e *exchange) pause() time.Duration { return time.Duration(e.guard.pause.Load()) }

// startRead puts a read under a deadline: latest at the end of a pause, or when the whole has come too slowly.
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
	if !now.Before(due) { // it comes too slowly even if there is more of it by now
		e.bodyDone = true
		return ErrTooSlow
	}
	e.reading = true
	return nil
}

// endRead lifts the deadline: with the body read, the server looks out for the client's end. After a read that came too
// late it stays, or net/http would wait for the rest.
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

// outruns tells whether the answer begins before the body has ended, on a connection that would be used again.
func (e *exchange) outruns() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.duplex && e.drains && e.hasBody && !e.whole
}

// startWrite puts what is about to be written under a deadline. Before a header goes out net/http reads what the handler
// has left of the body, and would wait for it for ever.
func (e *exchange) startWrite() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing = true
	e.draining = !e.begun && !e.duplex && e.hasBody && !e.bodyDone
	e.setWriting()
}

// setWriting sets the deadlines of a write from now on. The caller holds mu.
func (e *exchange) setWriting() {
	now, pause := time.Now(), e.pause()
	if due := now.Add(pause); due.Before(e.writeDue) || due.Sub(e.writeDue) > pause/64 { // else it has just been set
		_ = e.conn.SetWriteDeadline(due)
		e.writeDue = due
	}
	if e.draining {
		_ = e.conn.SetReadDeadline(now.Add(pause / 3)) // so that there is time left to write
	}
}

// endWrite lifts the deadline where it would do harm when it passes: over HTTP/2 it ends the stream, and TLS may write of its own
// accord. On a plain connection it counts for the next write only, which comes with its own.
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

// end puts what net/http does once the handler has returned under a deadline: it writes what is buffered, and reads what
// the handler has left of the body.
func (e *exchange) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing, e.draining = true, e.drains && e.hasBody && !e.bodyDone
	e.setWriting()
}

// shorten brings the deadlines that are set now forward to the pause in force.
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
