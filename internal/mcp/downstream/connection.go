package downstream

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// client writes the response to the client of one HTTP request. Package datarate, in front of all
// doors, limits how slowly the client may read.
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

// flush sends what net/http has buffered.
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

// beginStream sets the header of an event stream. A length of -1 means unknown: proxies must then
// pass events on unbuffered.
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

// sendJSON writes an answer that is not a stream.
func (c *client) sendJSON(status int, body []byte) error {
	h := c.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.WriteHeader(status)
	return c.send(body)
}

// carry writes a stream to the client until one of them ends. It writes head first, then each
// message as it arrives, and a comment after a long silence. It reports whether the client may have
// received anything, and whether everything was written.
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

// sendAll writes and flushes head and frames.
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
