package era

import (
	"bytes"

	"secateur/internal/rawjson"
)

// maxNesting bounds how deeply we follow a document, and with it our stack.
const maxNesting = 256

// A cursor goes over a document that was checked when it came in. In one that is
// not well-formed it finds nonsense, but it always gets to the end.
type cursor struct {
	doc []byte
	pos int
}

// A span is a stretch of a document. The zero value is nothing.
type span struct{ start, end int }

func (s span) of(doc []byte) []byte { return doc[s.start:s.end:s.end] }

// peek returns the first byte of the next value, name or end of a container; 0 at
// the end of the document.
func (c *cursor) peek() byte {
	for ; c.pos < len(c.doc); c.pos++ {
		switch b := c.doc[c.pos]; b {
		case ' ', '\t', '\n', '\r', ',', ':': // the check has seen that they stand where they belong
		default:
			return b
		}
	}
	return 0
}

// enter steps into the container that comes next.
func (c *cursor) enter() {
	c.peek()
	c.pos++
}

// done tells whether the container stepped into has ended, and then steps out.
func (c *cursor) done() bool {
	if b := c.peek(); b != '}' && b != ']' && b != 0 {
		return false
	}
	c.pos++
	return true
}

// value passes the next value or name.
func (c *cursor) value() span {
	first, start := c.peek(), c.pos
	switch first {
	case '"':
		c.pos = stringEnd(c.doc, c.pos)
	case '{', '[':
		c.container()
	default:
		for c.pos < len(c.doc) && !delimiter[c.doc[c.pos]] {
			c.pos++
		}
	}
	return span{start, c.pos}
}

func (c *cursor) container() {
	for depth := 0; c.pos < len(c.doc); {
		switch c.doc[c.pos] {
		case '"':
			c.pos = stringEnd(c.doc, c.pos)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.pos++
		if depth == 0 {
			return
		}
	}
}

var delimiter = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ':': true, ']': true, '}': true}

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

// A member is one of an object, with the places of its name and value.
type member struct{ name, value span }

// nextMember passes the next member of the object stepped into.
func (c *cursor) nextMember() member { return member{c.value(), c.value()} }

// eachMember calls visit for each member of an object, with what its name says.
// Any other value has none.
func eachMember(doc []byte, visit func(name []byte, m member)) {
	c := cursor{doc: doc}
	if c.peek() != '{' {
		return
	}
	for c.enter(); !c.done(); {
		m := c.nextMember()
		visit(word(m.name.of(doc)), m)
	}
}

// find returns where the values of members stand in an object, in the order of the
// names asked for; nothing for a name that it does not have.
func find(doc []byte, names ...string) []span {
	found := make([]span, len(names))
	eachMember(doc, func(name []byte, m member) {
		if i := index(names, name); i >= 0 {
			found[i] = m.value
		}
	})
	return found
}

// index returns the index of a name, -1 where it is not among them.
func index(names []string, name []byte) int {
	for i := range names {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// text returns what a raw value says if it is a string.
func text(raw []byte) (string, bool) {
	w := word(raw)
	return string(w), w != nil
}

// textOf is text, and "" for what is no string.
func textOf(raw []byte) string { return string(word(raw)) }

// word is text as bytes, which are the document's own where they can be; nil for
// what is no string.
func word(raw []byte) []byte {
	switch {
	case len(raw) < 2 || raw[0] != '"':
		return nil
	case bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	case rawjson.Check(raw, 0) != nil:
		return nil
	}
	return []byte(rawjson.Unquote(raw))
}

func isObject(raw []byte) bool {
	raw = rawjson.Trim(raw)
	return len(raw) >= 2 && raw[0] == '{' && raw[len(raw)-1] == '}'
}

// isNothing tells whether a value is absent or null, which many write for absent.
func isNothing(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
