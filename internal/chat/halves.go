package chat

import (
	"bytes"
	"sync/atomic"
)

// Beside begins to do something at the same time, and gives what waits for it.
type Beside func(do func()) (wait func())

const (
	worthHalving = 64 << 10 // bytes of messages of which another reads half
	howItBegins  = 8        // bytes of a message that most others begin with too, its first name in them
	lookedFor    = 64 << 10 // bytes in which a message is looked for that begins so
)

// half is the second half of a list of messages, read beside the first. Where it begins is a guess: only what begins where the first half has come to is a
// message of the list.
type half struct {
	start int // of its first message, counted as in the list
	wait  func()
	ended atomic.Bool // nobody wants it any more

	c *Conversation
	r reader
}

// readHalf begins to read the second half of what is left of a list, where that is worth while; else it is nil.
func (c *Conversation) readHalf(r *reader) *half {
	from := r.pos()
	left := len(r.doc) - from
	if r.beside == nil || r.err != nil || left < max(r.halved, howItBegins+2) || r.doc[1] != '{' {
		return nil
	}
	middle := from + left/2
	begins := append([]byte("},"), r.doc[1:1+howItBegins]...) // as the first of the list, behind its bracket
	at := bytes.Index(r.doc[middle:min(len(r.doc), middle+lookedFor)], begins)
	if at < 0 {
		return nil
	}
	h := &half{start: middle + at + len("},")}
	h.c = &Conversation{Format: c.Format, Body: c.Body, list: c.list, sizes: new(sizes)}
	h.r = reader{s: r.s.Fork(r.base + h.start), body: r.body, base: r.base, doc: r.doc, start: h.start}
	h.wait = r.beside(h.read)
	return h
}

func (h *half) read() {
	item := shapes[h.c.Format].item
	whole := 0
	for h.r.item() && !h.ended.Load() {
		if h.r.peek() != '{' {
			break
		}
		if item(h.c, &h.r); h.r.err != nil {
			break
		}
		whole = len(h.c.Messages)
	}
	h.c.Messages = h.c.Messages[:whole]
}

// join takes over what was read of the second half, now that the first has come to it. What is wrong in it the first finds by itself, where it goes on.
func (c *Conversation) join(r *reader, h *half) {
	h.wait()
	read := h.c.Messages
	if len(read) == 0 {
		return
	}
	after := len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].Role == Assistant
	first := len(c.Messages)
	for i := range read {
		*c.add(r) = read[i]
	}
	if m := &c.Messages[first]; c.Format == Responses && m.Role == Assistant {
		m.follows = after
	}
	r.jump(read[len(read)-1].End())
}
