package datarate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// body is a request's body under a deadline while it is being read.
type body struct {
	io.ReadCloser
	*exchange

	began time.Time
	read  int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.began.IsZero() {
		b.began = time.Now()
	}
	if err := b.startRead(b.began, b.read); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.endRead(err)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrTooSlow
	}
	return n, err
}

const (
	// writePiece is how much of an answer is written under one deadline, so that a large answer to a slow network has as
	// many of them as it needs.
	writePiece = 256 << 10

	// heldBack is how much of an answer net/http may keep until the handler returns.
	heldBack = 2 << 10
)

// writer is an answer under a deadline while it is being written.
type writer struct {
	http.ResponseWriter
	*exchange

	held    int64 // what net/http has not sent, as far as we know
	sent    bool  // some of it was
	decided bool  // on the header
}

// WriteHeader decides on the header. An answer that begins before the end of its body, in full duplex, is the connection's last: when the rest does not come in
// time, net/http takes what comes of it later for the next request.
func (w *writer) WriteHeader(status int) {
	if w.outruns() {
		w.Header().Set("Connection", "close")
	}
	w.decided = w.decided || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// decide is WriteHeader for a handler that writes without.
func (w *writer) decide() {
	if w.duplex && !w.decided {
		w.WriteHeader(http.StatusOK)
	}
}

func (w *writer) Write(p []byte) (n int, err error) {
	w.decide()
	if w.held += int64(len(p)); w.held <= heldBack {
		return w.ResponseWriter.Write(p) // it goes nowhere yet
	}
	w.sent = true
	for {
		piece := p[n:min(n+writePiece, len(p))]
		w.startWrite()
		m, err := w.ResponseWriter.Write(piece)
		w.endWrite()
		n += m
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// FlushError is what [http.ResponseController] calls.
func (w *writer) FlushError() error {
	w.decide()
	w.startWrite()
	defer w.endWrite()
	w.held, w.sent = 0, true
	if f, ok := w.ResponseWriter.(interface{ FlushError() error }); ok {
		return f.FlushError() // net/http's own
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] reach the rest.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// EnableFullDuplex is what [http.ResponseController] calls.
func (w *writer) EnableFullDuplex() error {
	err := http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
	w.duplex = w.duplex || err == nil
	return err
}

// finish sees to what net/http has still buffered when the handler returns, and writes afterwards. Where the header is
// out that happens here, where Drain reaches it.
func (w *writer) finish() {
	w.decide()
	if w.sent && w.held > 0 {
		_ = w.FlushError()
	}
	w.end()
}
