package lane

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// heldBytes is how much of an answer is held back until it is known how long it is; net/http holds as much.
	heldBytes = 2 << 10
	outBytes  = 4 << 10
)

// response is the answer to a request, as net/http would write it.
type response struct {
	of     *exchange
	header http.Header
	out    *output
	status int   // 0: the header has not been decided on
	length int64 // what the handler says; -1: nothing
	wrote  int64 // of the body, by the handler

	sent    bool // the header is in out
	chunked bool
	duplex  bool // what is left of the body stays
	last    bool // the connection ends with it
	hasType bool
	hasDate bool
	trails  bool // something is said behind the body
	limited bool // a deadline of writes was set
}

// output is what an answer needs while it is written.
type output struct {
	*bufio.Writer
	held []byte
	to   *exchange
	err  error
}

var outputs = sync.Pool{New: func() any {
	o := &output{held: make([]byte, 0, heldBytes)}
	o.Writer = bufio.NewWriterSize(wire{o}, outBytes)
	return o
}}

// wire is the client. Once it does not take something the request is over.
type wire struct{ o *output }

func (w wire) Write(p []byte) (int, error) {
	n, err := w.o.to.conn.peer.Write(p)
	if err != nil {
		w.o.err = err
		w.o.to.conn.cancel()
	}
	return n, err
}

func (w *response) begin(e *exchange) {
	w.of, w.header, w.length = e, make(http.Header, 8), -1
	w.out = outputs.Get().(*output)
	w.out.to = e
}

// release gives back what is only needed while writing. Who writes later gets an error.
func (w *response) release() {
	o := w.out
	w.out = nil
	o.Reset(wire{o})
	o.held, o.to, o.err = o.held[:0], nil, nil
	outputs.Put(o)
}

// Header is what the answer's header will be.
func (w *response) Header() http.Header { return w.header }

// WriteHeader decides on the header.
func (w *response) WriteHeader(status int) {
	if w.out == nil || w.status != 0 {
		w.of.conn.in.logf("http: superfluous response.WriteHeader call, status %d", status)
		return
	}
	if status < 100 || status > 999 {
		panic("invalid WriteHeader code " + strconv.Itoa(status))
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		w.writeStatus(status)
		_ = w.header.WriteSubset(w.out, notInformational)
		_, _ = w.out.WriteString("\r\n")
		_ = w.out.Flush()
		return
	}
	w.status = status
	w.writeStatus(status)
	w.settle()
	_ = w.header.WriteSubset(w.out, w.unsent())
}

// notInformational are fields that an answer which is not the final one does not have.
var notInformational = map[string]bool{"Content-Length": true, "Transfer-Encoding": true}

// ours are the fields that say how the answer and the connection go on: not for a handler to say. What it has to say behind the body it
// names with [http.TrailerPrefix].
var ours = map[string]bool{"Connection": true, "Transfer-Encoding": true, "Trailer": true}

// settle takes from the header what decides how the answer is written.
func (w *response) settle() {
	h := w.header
	w.last = h.Get("Connection") == "close"
	if length := h.Get("Content-Length"); length != "" {
		if n, err := strconv.ParseInt(length, 10, 64); err == nil && n >= 0 {
			w.length = n
		} else {
			w.of.conn.in.logf("http: invalid Content-Length of %q", length)
			h.Del("Content-Length")
		}
	}
	_, w.hasType = h["Content-Type"]
	w.hasType = w.hasType || h.Get("Content-Encoding") != "" // which hides what it is
	_, w.hasDate = h["Date"]
}

// unsent are the fields that are not written with the others.
func (w *response) unsent() map[string]bool {
	var more []string
	for name := range w.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			more = append(more, name)
		}
	}
	w.trails = len(more) > 0
	if !w.hasBody() {
		more = append(more, "Content-Length")
		if w.status == http.StatusNotModified {
			more = append(more, "Content-Type")
		}
	}
	if len(more) == 0 {
		return ours
	}
	all := make(map[string]bool, len(ours)+len(more))
	for name := range ours {
		all[name] = true
	}
	for _, name := range more {
		all[name] = true
	}
	return all
}

func (w *response) writeStatus(status int) {
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	_, _ = w.out.WriteString("HTTP/1.1 ")
	_, _ = w.out.Write(strconv.AppendInt(w.out.AvailableBuffer(), int64(status), 10))
	_ = w.out.WriteByte(' ')
	_, _ = w.out.WriteString(text)
	_, _ = w.out.WriteString("\r\n")
}

// hasBody reports whether an answer of this status has one.
func (w *response) hasBody() bool {
	return w.status >= 200 && w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if w.out == nil {
		return 0, http.ErrHandlerTimeout
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !w.hasBody() {
		return 0, http.ErrBodyNotAllowed
	}
	if w.wrote += int64(len(p)); w.length >= 0 && w.wrote > w.length {
		return 0, http.ErrContentLength
	}
	if len(w.out.held)+len(p) <= heldBytes {
		w.out.held = append(w.out.held, p...)
		return len(p), nil
	}
	first := w.out.held
	if len(first) == 0 {
		first = p
	}
	w.send(first, false)
	w.sendHeld()
	w.sendPart(p)
	if w.out.err != nil {
		return 0, w.out.err
	}
	return len(p), nil
}

// send writes what is left of the header, once. Of the body it begins with first, and ends with it if that is all.
func (w *response) send(first []byte, isAll bool) {
	if w.sent {
		return
	}
	w.sent = true
	w.last = w.last || w.of.conn.in.stopping.Load()
	if !w.duplex && !w.last && !w.of.body.drain() {
		w.last = true
	}
	if !w.hasDate {
		_, _ = w.out.WriteString("Date: ")
		_, _ = w.out.Write(time.Now().UTC().AppendFormat(w.out.AvailableBuffer(), http.TimeFormat))
		_, _ = w.out.WriteString("\r\n")
	}
	framing := w.frame(len(first), isAll)
	if framing == sized {
		w.writeField("Content-Length: ", strconv.FormatInt(w.length, 10))
	}
	if w.hasBody() && !w.hasType && len(first) > 0 {
		w.writeField("Content-Type: ", http.DetectContentType(first))
	}
	if w.last {
		w.writeField("Connection: ", "close")
	}
	if w.chunked = framing == chunked; w.chunked {
		w.writeField("Transfer-Encoding: ", "chunked")
	}
	_, _ = w.out.WriteString("\r\n")
}

// How the end of an answer is seen.
const (
	known   = iota // it has none, or the handler has said how long it is
	sized          // we know how long it is
	chunked        // it is told behind it
)

// frame is how the end of an answer is seen whose body begins with so many bytes.
func (w *response) frame(length int, isAll bool) int {
	switch {
	case !w.hasBody() || w.length >= 0:
		return known
	case isAll && !w.trails:
		w.length = int64(length)
		return sized
	default:
		return chunked
	}
}

func (w *response) writeField(name, value string) {
	_, _ = w.out.WriteString(name)
	_, _ = w.out.WriteString(value)
	_, _ = w.out.WriteString("\r\n")
}

func (w *response) sendHeld() {
	if len(w.out.held) > 0 {
		w.sendPart(w.out.held)
		w.out.held = w.out.held[:0]
	}
}

// sendPart writes a part of the body that is not empty.
func (w *response) sendPart(p []byte) {
	if !w.chunked {
		_, _ = w.out.Write(p)
		return
	}
	_, _ = w.out.Write(append(strconv.AppendInt(w.out.AvailableBuffer(), int64(len(p)), 16), "\r\n"...))
	_, _ = w.out.Write(p)
	_, _ = w.out.WriteString("\r\n")
}

// FlushError is what [http.ResponseController] calls to send what was written.
func (w *response) FlushError() error {
	if w.out == nil {
		return http.ErrHandlerTimeout
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.send(w.out.held, false)
	w.sendHeld()
	_ = w.out.Flush()
	return w.out.err
}

// Flush sends what was written.
func (w *response) Flush() { _ = w.FlushError() }

// finish writes what is left when the handler is done; false: the connection ends with the answer.
func (w *response) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.send(w.out.held, true)
	w.sendHeld()
	if w.chunked {
		_, _ = w.out.WriteString("0\r\n")
		w.sendTrailers()
		_, _ = w.out.WriteString("\r\n")
	}
	_ = w.out.Flush()
	if w.limited {
		_ = w.of.conn.peer.SetWriteDeadline(time.Time{})
	}
	isWhole := !w.hasBody() || w.length < 0 || w.length == w.wrote
	return isWhole && !w.last && w.out.err == nil
}

func (w *response) sendTrailers() {
	behind := http.Header{}
	for name, values := range w.header {
		if name, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			behind[name] = values
		}
	}
	_ = behind.Write(w.out)
}

// EnableFullDuplex is what [http.ResponseController] calls to have the body left as it is while the answer is written.
func (w *response) EnableFullDuplex() error {
	w.duplex = true
	return nil
}

// SetReadDeadline is what [http.ResponseController] calls.
func (w *response) SetReadDeadline(t time.Time) error { return w.of.conn.peer.SetReadDeadline(t) }

// SetWriteDeadline is what [http.ResponseController] calls.
func (w *response) SetWriteDeadline(t time.Time) error {
	w.limited = true
	return w.of.conn.peer.SetWriteDeadline(t)
}
