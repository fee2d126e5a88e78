package catalog

import (
	"bytes"

	"secateur/internal/rawjson"
)

// A walker goes over a document that was checked when it came in, to find what
// stands where. In one that is not well-formed it finds nonsense, but it always
// gets to the end.
type walker struct {
	doc []byte
	pos int
}

// span is a stretch of a document.
type span struct{ start, end int }

func (s span) of(doc []byte) []byte { return doc[s.start:s.end:s.end] }

// peek returns the first byte of the next value, name or end of a container; 0 at
// the end of the document.
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
	if c != '}' && c != ']' && c != 0 {
		return false
	}
	w.pos++
	return true
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
	w.pos = min(w.pos, len(w.doc))
	return span{min(start, w.pos), w.pos}
}

// raw is value as bytes.
func (w *walker) raw() []byte { return w.value().of(w.doc) }

// str passes the string that starts here: up to the next quote with an even number
// of backslashes before it. Each backslash is looked at once.
func (w *walker) str() {
	text := w.pos + 1
	for p := text; ; p++ {
		i := bytes.IndexByte(w.doc[min(p, len(w.doc)):], '"')
		if i < 0 {
			w.pos = len(w.doc)
			return
		}
		p += i
		slashes := 0
		for p-slashes > text && w.doc[p-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			w.pos = p + 1
			return
		}
	}
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

// text returns what a raw value says if it is a string.
func text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || rawjson.Check(raw, 0) != nil {
		return "", false
	}
	return rawjson.Unquote(raw), true
}

// word returns what a raw member name says.
func word(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	s, _ := text(raw)
	return []byte(s)
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
