package downstream

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// writeTime is how long a client may take to read the next piece of an answer; then it is given up.
const writeTime = 30 * time.Second

// piece is how much is written under one deadline.
const piece = 256 << 10

// wire is the way back to the client of one HTTP request.
type wire struct {
	http.ResponseWriter
	control http.ResponseController
}

func newWire(w http.ResponseWriter) wire { return wire{w, *http.NewResponseController(w)} }

// send writes bytes under the deadline there is, and a long row of them piece by piece, each with a new one.
func (c *wire) send(p []byte) error {
	for len(p) > piece {
		if _, err := c.Write(p[:piece]); err != nil {
			return err
		}
		p = p[piece:]
		c.hurry()
	}
	if len(p) == 0 {
		return nil
	}
	_, err := c.Write(p)
	return err
}

// sendFrame writes a message.
func (c *wire) sendFrame(f *frame) error {
	if err := c.send(f.wire); err != nil || f.body == nil {
		return err
	}
	if err := c.send(f.body); err != nil {
		return err
	}
	_, err := io.WriteString(c, eventTail)
	return err
}

// flush sends what net/http holds back.
func (c *wire) flush() error {
	if err := c.control.Flush(); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// hurry has a write fail that is stuck. It ends with the request. A writer without deadlines is a test's.
func (c *wire) hurry() { _ = c.control.SetWriteDeadline(time.Now().Add(writeTime)) }

// rest takes the deadline away from a stream that may be silent for longer: over HTTP/2 one that passes ends it.
func (c *wire) rest() { _ = c.control.SetWriteDeadline(time.Time{}) }

var (
	jsonType    = []string{typeJSON}
	streamType  = []string{typeStream}
	noCache     = []string{"no-cache"}
	noBuffering = []string{"no"}
)

// beginStream sets the header of a stream of events. A length of -1 is not known.
func (c *wire) beginStream(length int) {
	h := c.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	c.WriteHeader(http.StatusOK)
}

// sendJSON writes an answer that is no stream.
func (c *wire) sendJSON(status int, body []byte) error {
	h := c.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.WriteHeader(status)
	c.hurry()
	return c.send(body)
}

// carry writes a stream to the client until one of them is over: head first, then message after message, each when it
// comes, and a comment where it is silent for long. It reports whether the client may have got any of it, and whether it
// was all.
func (c *wire) carry(s *stream, r *reader, head []byte, silence time.Duration, gone <-chan struct{}) (wrote, all bool) {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	var frames []*frame
	for {
		var over bool
		frames, over = s.take(r, frames[:0])
		if len(frames) > 0 || len(head) > 0 {
			err := c.sendAll(head, frames)
			s.wrote(r, frames, err)
			clear(frames)
			head, wrote = nil, true
			if err != nil {
				return wrote, false
			}
			timer.Reset(silence)
			continue
		}
		if over {
			return wrote, true
		}
		select {
		case <-r.wake:
		case <-timer.C:
			head = []byte(keepAlive)
		case <-gone:
			return wrote, false
		}
	}
}

// sendAll writes what there is. All of it is on its way when sendAll returns.
func (c *wire) sendAll(head []byte, frames []*frame) error {
	c.hurry()
	if err := c.send(head); err != nil {
		return err
	}
	for i, f := range frames {
		if i > 0 {
			c.hurry()
		}
		if err := c.sendFrame(f); err != nil {
			return err
		}
	}
	err := c.flush()
	c.rest()
	return err
}
