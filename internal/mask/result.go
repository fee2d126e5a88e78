package mask

import (
	"bytes"

	"secateur/internal/rawjson"
)

// TextCuts returns the cuts to be made in the result of a tool, a well-formed
// document, in its order: in the text of content blocks of type text, and in the
// text of the resource in those of type resource. All else is left whole: blocks of
// other types, structuredContent, media, URIs, names.
func (m *Masker) TextCuts(result []byte) []Cut {
	if len(result) <= m.settings.MaxChars {
		return nil
	}
	t := textFinder{doc: result, most: m.settings.MaxChars}
	t.result()
	if len(t.long) == 0 {
		return nil
	}
	return m.cuts(result, t.long)
}

// A textFinder goes once over a result and notes the texts that are too long. It
// follows no nesting but that of the protocol.
type textFinder struct {
	doc  []byte
	pos  int
	most int // characters that a text may have

	long  []rawjson.String
	inner []rawjson.String // those of the resource of the block at hand
}

func (t *textFinder) result() {
	if t.peek() != '{' {
		return
	}
	for t.enter(); !t.done(); {
		isContent := is(t.value(), "content")
		if !isContent || t.peek() != '[' {
			t.value()
			continue
		}
		for t.enter(); !t.done(); {
			if t.peek() == '{' {
				t.block()
			} else {
				t.value()
			}
		}
	}
}

// block passes a content block. Its type may stand behind its text.
func (t *textFinder) block() {
	var kind []byte
	first := len(t.long)
	t.inner = t.inner[:0]
	for t.enter(); !t.done(); {
		switch name := t.value(); {
		case is(name, "type"):
			kind = t.value()
		case is(name, "text"):
			t.long = t.note(t.long)
		case is(name, "resource") && t.peek() == '{':
			for t.enter(); !t.done(); {
				if is(t.value(), "text") {
					t.inner = t.note(t.inner)
				} else {
					t.value()
				}
			}
		default:
			t.value()
		}
	}
	switch {
	case isString(kind) && is(kind, "text"):
	case isString(kind) && is(kind, "resource"):
		t.long = append(t.long[:first], t.inner...)
	default:
		t.long = t.long[:first]
	}
}

// note passes a value and takes it down where it is a text that is too long.
func (t *textFinder) note(long []rawjson.String) []rawjson.String {
	t.peek()
	start := t.pos
	raw := t.value()
	if !isString(raw) || len(raw)-2 <= t.most {
		return long
	}
	if chars := rawjson.CountChars(raw); chars > t.most {
		return append(long, rawjson.String{Start: start, End: t.pos, Chars: chars})
	}
	return long
}

func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// peek returns the first byte of the next value, name or end of a container; 0 at
// the end of the document.
func (t *textFinder) peek() byte {
	for ; t.pos < len(t.doc); t.pos++ {
		switch c := t.doc[t.pos]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// enter steps into the container that comes next.
func (t *textFinder) enter() {
	t.peek()
	t.pos++
}

// done tells whether the container stepped into has ended, and then steps out.
func (t *textFinder) done() bool {
	if c := t.peek(); c != '}' && c != ']' && c != 0 {
		return false
	}
	t.pos++
	return true
}

// value passes the next value or name.
func (t *textFinder) value() []byte {
	first, start := t.peek(), t.pos
	switch first {
	case '"':
		t.pos = stringEnd(t.doc, t.pos)
	case '{', '[':
		t.container()
	default:
		if n := bytes.IndexAny(t.doc[t.pos:], " \t\r\n,:]}"); n >= 0 {
			t.pos += n
		} else {
			t.pos = len(t.doc)
		}
	}
	return t.doc[start:t.pos]
}

func (t *textFinder) container() {
	for depth := 0; t.pos < len(t.doc); {
		switch t.doc[t.pos] {
		case '"':
			t.pos = stringEnd(t.doc, t.pos)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		t.pos++
		if depth == 0 {
			return
		}
	}
}

// stringEnd returns the offset just past the string that starts at an offset: past
// the next quote with an even number of backslashes before it.
func stringEnd(doc []byte, start int) int {
	text := start + 1
	for p := text; p < len(doc); p++ {
		i := bytes.IndexByte(doc[p:], '"')
		if i < 0 {
			break
		}
		p += i
		slashes := 0
		for p-slashes > text && doc[p-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return p + 1
		}
	}
	return len(doc)
}
