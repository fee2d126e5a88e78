package chat

import (
	"bytes"
	"errors"
	"slices"

	"secateur/internal/rawjson"
)

// reader goes once over a body, checks all of it, and tells where things stand. Once
// something is wrong every container has ended and every value is empty, so that only
// the end needs to be asked.
type reader struct {
	s    rawjson.Scanner
	body []byte
	base int    // where in body offsets count from
	doc  []byte // body from there on
	err  error

	calls []Call // of the messages that were read, in one piece
	parts int    // of contents, and calls, that were read

	charge func(bytes int64) error // asked before memory is taken; nil: nobody counts
}

// MaxItems is how many messages a request may have, how many parts and calls in all of them, and how many tools.
const MaxItems = 65_536

// ErrTooMany means that a request has more than MaxItems of something.
var ErrTooMany = errors.New("too many messages, parts or tools")

// span is a stretch of bytes.
type span struct{ start, end int }

func (s span) of(doc []byte) []byte { return doc[s.start:s.end:s.end] }

func newReader(doc []byte) reader {
	r := reader{s: rawjson.NewScanner(doc, MaxDepth), body: doc, doc: doc}
	r.s.Unique = true
	return r
}

// countFrom makes offsets count from a place in the body.
func (r *reader) countFrom(base int) { r.base, r.doc = base, r.body[base:] }

// pos is the offset at which the reader stands.
func (r *reader) pos() int { return r.s.Pos() - r.base }

// peek is the first byte of the next value; 0 where there is none.
func (r *reader) peek() byte {
	if r.err != nil {
		return 0
	}
	return r.s.Peek()
}

// enter steps into the object that comes next.
func (r *reader) enter() {
	if r.err == nil {
		r.err = r.s.Enter()
	}
}

// name is the raw name of the object's next member; nil: it has ended.
func (r *reader) name() []byte {
	if r.err != nil {
		return nil
	}
	name, err := r.s.Next()
	r.err = err
	return name
}

// list steps into the array that comes next.
func (r *reader) list() {
	if r.err == nil {
		r.err = r.s.EnterList()
	}
}

// jump moves to an offset just past an item of the array, up to where it was read before.
func (r *reader) jump(to int) {
	if r.err == nil {
		r.s.Jump(r.base + to)
	}
}

// item tells whether the array has another value.
func (r *reader) item() bool {
	if r.err != nil {
		return false
	}
	more, err := r.s.NextItem()
	r.err = err
	return more
}

// value passes the next value.
func (r *reader) value() span {
	if r.err != nil {
		return span{}
	}
	raw, err := r.s.Skip()
	r.err = err
	return span{r.pos() - len(raw), r.pos()}
}

// text passes the next value, a string, and counts its characters.
func (r *reader) text() (at span, chars int) {
	if r.err != nil {
		return span{}, 0
	}
	raw, chars, err := r.s.SkipString()
	r.err = err
	return span{r.pos() - len(raw), r.pos()}, chars
}

// fail ends reading.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// pay charges for memory that is about to be taken.
func (r *reader) pay(bytes int) {
	if r.charge != nil && r.err == nil {
		r.err = r.charge(int64(bytes))
	}
}

// addCall adds a call to those that were read.
func (r *reader) addCall(call Call) {
	if len(r.calls) == cap(r.calls) {
		r.roomForCalls(len(r.calls) + 1)
	}
	if r.err == nil {
		r.calls = append(r.calls, call)
	}
}

// roomForCalls makes room for some more calls.
func (r *reader) roomForCalls(more int) {
	if more <= cap(r.calls)-len(r.calls) {
		return
	}
	if r.pay((len(r.calls)+more)*callBytes + more*planCallBytes); r.err == nil {
		r.calls = slices.Grow(r.calls, more)
	}
}

// part tells whether the array has another part, and counts it.
func (r *reader) part() bool {
	more := r.item()
	if more {
		r.parts++
	}
	if r.parts > MaxItems {
		r.fail(ErrTooMany)
	}
	return more && r.err == nil
}

// definitions passes the next value, of which an array has no more than MaxItems.
func (r *reader) definitions() span {
	if r.peek() != '[' {
		return r.value()
	}
	at := span{start: r.pos()}
	n := 0
	for r.list(); r.item(); n++ {
		if n == MaxItems {
			r.fail(ErrTooMany)
		}
		r.value()
	}
	at.end = r.pos()
	return at
}

// end tells what was wrong, be it that something follows.
func (r *reader) end() error {
	if r.err == nil {
		r.err = r.s.End()
	}
	return r.err
}

// shared decodes a tool's name, or the id of a call. One that a call of late has too is
// not made again: most tools are called many times, and results have their call's id.
func (r *reader) shared(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	text := decoded(raw)
	for i := len(r.calls) - 1; i >= max(0, len(r.calls)-4); i-- {
		switch call := &r.calls[i]; string(text) {
		case call.ID:
			return call.ID
		case call.Name:
			return call.Name
		}
	}
	return string(text)
}

// is tells whether raw, a JSON value, is a string that says word.
func is(raw []byte, word string) bool {
	return len(raw) > 0 && raw[0] == '"' && string(decoded(raw)) == word
}

// decoded is what raw, a JSON string with its quotes, says: a piece of it wherever that
// is possible.
func decoded(raw []byte) []byte {
	if len(raw) < 2 { // of a document that is broken here
		return nil
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return []byte(rawjson.Unquote(raw))
}
