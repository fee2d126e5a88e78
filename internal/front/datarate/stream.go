package datarate

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// body is a request body with a deadline for each read.
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
	// writePiece is how much of a response is written under one deadline. A large response over a
	// slow network gets several.
	writePiece = 256 << 10

	// heldBack is how much of a response net/http may buffer until the handler returns.
	heldBack = 2 << 10
)

// writer is a response with a deadline for each write.
type writer struct {
	http.ResponseWriter
	*exchange

	held    int64 // bytes probably still buffered by net/http
	sent    bool  // something was sent
	decided bool  // the header is final
}

// WriteHeader writes the header. In full duplex, a response that begins before the end of its body
// closes the connection. Otherwise net/http could read the late rest of the body as the next
// request.
func (w *writer) WriteHeader(status int) {
	if w.outruns() {
		w.Header().Set("Connection", "close")
	}
	w.decided = w.decided || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// decide is WriteHeader for a handler that writes without it.
func (w *writer) decide() {
	if w.duplex && !w.decided {
		w.WriteHeader(http.StatusOK)
	}
}

func (w *writer) Write(p []byte) (n int, err error) {
	w.decide()
	if w.held += int64(len(p)); w.held <= heldBack {
		return w.ResponseWriter.Write(p) // only buffered
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

// FlushError implements flushing for [http.ResponseController].
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

// Unwrap gives [http.ResponseController] access to the rest.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// EnableFullDuplex implements full duplex for [http.ResponseController].
func (w *writer) EnableFullDuplex() error {
	err := http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
	w.duplex = w.duplex || err == nil
	return err
}

// finish flushes what net/http has buffered when the handler returns, if the header was sent. Here,
// unlike later in net/http, Drain can shorten the deadline.
func (w *writer) finish() {
	w.decide()
	if w.sent && w.held > 0 {
		_ = w.FlushError()
	}
	w.end()
}
