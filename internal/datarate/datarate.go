package datarate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// ErrTooSlow is why reading a body failed whose client sent too little of it for too long.
var ErrTooSlow = errors.New("the body comes too slowly")

// Limits say how slow a client may be. A zero field means its default.
type Limits struct {
	// Pause is how long a client may send nothing in the middle of its body, or take nothing of its answer; 0: 30 s.
	Pause time.Duration
	// BytesPerSecond is how fast a body must come on average once Pause has passed; 0: 1 KiB.
	BytesPerSecond int
}

const (
	defaultPause = 30 * time.Second
	defaultRate  = 1 << 10

	// writePiece is how much of an answer is written under one deadline, so that a large answer to a slow network has as
	// many of them as it needs.
	writePiece = 256 << 10
)

// Guard holds the limits for a handler.
func (l Limits) Guard(next http.Handler) http.Handler {
	if l.Pause <= 0 {
		l.Pause = defaultPause
	}
	if l.BytesPerSecond <= 0 {
		l.BytesPerSecond = defaultRate
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &writer{ResponseWriter: w, limits: l, control: http.NewResponseController(w)}
		if r.Body != nil && r.Body != http.NoBody {
			out.body = &body{ReadCloser: r.Body, limits: l, control: out.control}
			r = r.WithContext(r.Context()) // net/http knows the body it gave by its type
			r.Body = out.body
		}
		next.ServeHTTP(out, r)
		if r.ProtoMajor == 1 { // what is still buffered is written once the handler has returned
			out.hurry()
		}
	})
}

// body is a request's body under a deadline while it is being read.
type body struct {
	io.ReadCloser

	limits  Limits
	control *http.ResponseController
	began   time.Time
	read    int64
	done    atomic.Bool // nothing more is to come
}

func (b *body) Read(p []byte) (int, error) {
	now := time.Now()
	if b.began.IsZero() {
		b.began = now
	}
	due := b.began.Add(b.limits.Pause + time.Duration(b.read/int64(b.limits.BytesPerSecond))*time.Second)
	if silence := now.Add(b.limits.Pause); silence.Before(due) {
		due = silence
	}
	if !now.Before(due) { // it comes too slowly even if there is more of it by now
		return 0, ErrTooSlow
	}
	_ = b.control.SetReadDeadline(due)
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	_ = b.control.SetReadDeadline(time.Time{}) // with the body read, the server looks out for the client's end
	if err != nil {
		b.done.Store(true)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrTooSlow
	}
	return n, err
}

// writer is an answer under a deadline while it is being written.
type writer struct {
	http.ResponseWriter

	limits  Limits
	control *http.ResponseController
	body    *body // of the request; nil: it has none
	begun   bool  // the header is written, or about to be
	duplex  bool  // the body is read while the answer is written
}

func (w *writer) Write(p []byte) (n int, err error) {
	for {
		piece := p[n:min(n+writePiece, len(p))]
		w.hurry()
		m, err := w.ResponseWriter.Write(piece)
		w.rest()
		n += m
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// FlushError is what [http.ResponseController] calls.
func (w *writer) FlushError() error {
	w.hurry()
	defer w.rest()
	return w.control.Flush()
}

// Unwrap lets [http.ResponseController] reach the rest.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// EnableFullDuplex is what [http.ResponseController] calls.
func (w *writer) EnableFullDuplex() error {
	err := w.control.EnableFullDuplex()
	w.duplex = w.duplex || err == nil
	return err
}

// hurry puts what is about to be written under a deadline; a writer that knows none is a test's. Before a header goes out
// net/http reads what the handler has left of the body, and would wait for it for ever.
func (w *writer) hurry() {
	now := time.Now()
	_ = w.control.SetWriteDeadline(now.Add(w.limits.Pause))
	if w.drains() {
		_ = w.control.SetReadDeadline(now.Add(w.limits.Pause / 3)) // so that there is time left to write
	}
}

func (w *writer) rest() {
	_ = w.control.SetWriteDeadline(time.Time{})
	if w.drains() {
		_ = w.control.SetReadDeadline(time.Time{})
	}
	w.begun = true
}

// drains tells whether writing may make net/http read.
func (w *writer) drains() bool { return !w.begun && !w.duplex && w.body != nil && !w.body.done.Load() }
