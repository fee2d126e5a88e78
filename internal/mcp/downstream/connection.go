package downstream

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// client is the way back to the client of one HTTP request. How long the client may take to read is the guard's to say that stands
// before all doors (package datarate).
type client struct {
	http.ResponseWriter
	control http.ResponseController
}

func newClient(w http.ResponseWriter) client { return client{w, *http.NewResponseController(w)} }

// send writes bytes.
func (c *client) send(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := c.Write(p)
	return err
}

// sendFrame writes a message.
func (c *client) sendFrame(f *frame) error {
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
func (c *client) flush() error {
	if err := c.control.Flush(); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

var (
	jsonType    = []string{typeJSON}
	streamType  = []string{typeStream}
	noCache     = []string{"no-cache"}
	noBuffering = []string{"no"}
)

// beginStream sets the header of a stream of events. A length of -1 is not known: then the events are to be passed on as they come.
func (c *client) beginStream(length int) {
	h := c.Header()
	h["Content-Type"] = streamType
	h["Cache-Control"] = noCache
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	} else {
		h["X-Accel-Buffering"] = noBuffering
	}
	c.WriteHeader(http.StatusOK)
}

// sendJSON writes an answer that is no stream.
func (c *client) sendJSON(status int, body []byte) error {
	h := c.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.WriteHeader(status)
	return c.send(body)
}

// carry writes a stream to the client until one of them is over: head first, then message after message, each when it
// comes, and a comment where it is silent for long. It reports whether the client may have got any of it, and whether it
// was all.
func (c *client) carry(s *stream, r *reader, head []byte, silence time.Duration, gone <-chan struct{}) (wrote, all bool) {
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
func (c *client) sendAll(head []byte, frames []*frame) error {
	if err := c.send(head); err != nil {
		return err
	}
	for _, f := range frames {
		if err := c.sendFrame(f); err != nil {
			return err
		}
	}
	return c.flush()
}
