package chat

import (
	"bytes"

	"secateur/internal/rawjson"
)

// walker goes once more over a document that was checked, to find what stands in
// its arrays. It jumps over the long strings that the check has noted, so that
// the second pass touches only what is between them.
type walker struct {
	doc  []byte
	pos  int
	long []rawjson.String // in the order of the document
	next int              // the first of them not yet passed

	calls []Call // of all messages so far, in one piece
}

// span is a stretch of the document.
type span struct{ start, end int }

func (s span) of(doc []byte) []byte { return doc[s.start:s.end:s.end] }

func (w *walker) peek() byte {
	for w.pos < len(w.doc) {
		switch c := w.doc[w.pos]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			w.pos++ // the check has seen that they stand where they belong
		default:
			return c
		}
	}
	return 0
}

// enter steps into the container that comes next.
func (w *walker) enter() {
	w.peek()
	w.pos++
}

// done tells whether the container stepped into has ended, and then steps out.
func (w *walker) done() bool {
	c := w.peek()
	if c == '}' || c == ']' || c == 0 {
		w.pos++
		return true
	}
	return false
}

// value passes the next value or name.
func (w *walker) value() span {
	first := w.peek()
	start := w.pos
	switch first {
	case '"':
		w.str()
	case '{', '[':
		w.container()
	default:
		for w.pos < len(w.doc) && !delimiter[w.doc[w.pos]] {
			w.pos++
		}
	}
	return span{start, w.pos}
}

// str passes the string that starts here.
func (w *walker) str() {
	for w.next < len(w.long) && w.long[w.next].Start < w.pos {
		w.next++
	}
	if w.next < len(w.long) && w.long[w.next].Start == w.pos {
		w.pos = w.long[w.next].End
		return
	}
	// The first quote ends it, but for one that may be escaped.
	if i := bytes.IndexByte(w.doc[w.pos+1:], '"'); i >= 0 && w.doc[w.pos+i] != '\\' {
		w.pos += i + 2
		return
	}
	w.pos = rawjson.StringEnd(w.doc, w.pos)
}

// chars counts the characters of the string that was just passed.
func (w *walker) chars(s span) int {
	if w.next < len(w.long) && w.long[w.next].Start == s.start {
		return w.long[w.next].Chars
	}
	return rawjson.CountChars(s.of(w.doc))
}

// name decodes a tool's name, or the id of a call. One that a call of late has too is
// not made again: most tools are called many times, and results have their call's id.
func (w *walker) name(raw []byte) string {
	text := decoded(raw)
	for i := len(w.calls) - 1; i >= max(0, len(w.calls)-4); i-- {
		switch call := &w.calls[i]; string(text) {
		case call.ID:
			return call.ID
		case call.Name:
			return call.Name
		}
	}
	return string(text)
}

func (w *walker) container() {
	for depth := 0; w.pos < len(w.doc); {
		switch w.doc[w.pos] {
		case '"':
			w.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.pos++
		if depth == 0 {
			return
		}
	}
}

var delimiter = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ':': true, ']': true, '}': true}

// is tells whether raw, a JSON value, is a string that says word.
func is(raw []byte, word string) bool {
	return raw[0] == '"' && string(decoded(raw)) == word
}

// decoded is what raw, a JSON string with its quotes, says: a piece of it wherever that
// is possible.
func decoded(raw []byte) []byte {
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return []byte(rawjson.Unquote(raw))
}
