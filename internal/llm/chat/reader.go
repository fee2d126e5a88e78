package chat

import (
	"bytes"
	"errors"
	"slices"

	"secateur/internal/rawjson"
)

// reader scans a body once, validates all of it, and reports offsets. After an error every
// container ends and every value is empty, so only the end needs a check.
type reader struct {
	s    rawjson.Scanner
	body []byte
	base int    // offset in body from which positions count
	doc  []byte // body from there on
	err  error

	calls []Call // of all messages read so far, in one slice
	parts int    // number of content parts and calls read

	charge func(bytes int64) error // called before allocating; nil: no accounting
}

// MaxItems limits the messages of a request, the parts and calls in all of them, and the tools.
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

// countFrom makes offsets relative to a place in the body.
func (r *reader) countFrom(base int) { r.base, r.doc = base, r.body[base:] }

// pos returns the current offset.
func (r *reader) pos() int { return r.s.Pos() - r.base }

// peek returns the first byte of the next value; 0: none.
func (r *reader) peek() byte {
	if r.err != nil {
		return 0
	}
	return r.s.Peek()
}

// enter steps into the next object.
func (r *reader) enter() {
	if r.err == nil {
		r.err = r.s.Enter()
	}
}

// name returns the raw name of the object's next member; nil: the end.
func (r *reader) name() []byte {
	if r.err != nil {
		return nil
	}
	name, err := r.s.Next()
	r.err = err
	return name
}

// list steps into the next array.
func (r *reader) list() {
	if r.err == nil {
		r.err = r.s.EnterList()
	}
}

// jump moves to an offset just after an item of the array, up to where it was read before.
func (r *reader) jump(to int) {
	if r.err == nil {
		r.s.Jump(r.base + to)
	}
}

// item reports whether the array has another value.
func (r *reader) item() bool {
	if r.err != nil {
		return false
	}
	more, err := r.s.NextItem()
	r.err = err
	return more
}

// value skips the next value.
func (r *reader) value() span {
	if r.err != nil {
		return span{}
	}
	raw, err := r.s.Skip()
	r.err = err
	return span{r.pos() - len(raw), r.pos()}
}

// text skips the next value, a string, and counts its characters.
func (r *reader) text() (at span, chars int) {
	if r.err != nil {
		return span{}, 0
	}
	raw, chars, err := r.s.SkipString()
	r.err = err
	return span{r.pos() - len(raw), r.pos()}, chars
}

// fail ends the reading.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// pay charges for memory about to be allocated.
func (r *reader) pay(bytes int) {
	if r.charge != nil && r.err == nil {
		r.err = r.charge(int64(bytes))
	}
}

// addCall appends a call.
func (r *reader) addCall(call Call) {
	if len(r.calls) == cap(r.calls) {
		r.roomForCalls(len(r.calls) + 1)
	}
	if r.err == nil {
		r.calls = append(r.calls, call)
	}
}

// roomForCalls allocates for more calls.
func (r *reader) roomForCalls(more int) {
	if more <= cap(r.calls)-len(r.calls) {
		return
	}
	if r.pay((len(r.calls)+more)*callBytes + more*planCallBytes); r.err == nil {
		r.calls = slices.Grow(r.calls, more)
	}
}

// part reports whether the array has another part, and counts it.
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

// definitions skips the next value. An array may have at most MaxItems.
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

// end returns the first error, including trailing data.
func (r *reader) end() error {
	if r.err == nil {
		r.err = r.s.End()
	}
	return r.err
}

// shared decodes a tool's name or the id of a call. It reuses the string of a recent call: most
// tools are called many times, and results have their call's id.
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

// is reports whether raw, a JSON value, is a string equal to word.
func is(raw []byte, word string) bool {
	return len(raw) > 0 && raw[0] == '"' && string(decoded(raw)) == word
}

// decoded returns the text of raw, a JSON string with its quotes, without a copy if possible.
func decoded(raw []byte) []byte {
	if len(raw) < 2 { // in a broken document
		return nil
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return []byte(rawjson.Unquote(raw))
}
