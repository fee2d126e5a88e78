package rawjson

import "bytes"

// A Span is a range of bytes in a document. The zero Span means none.
type Span struct{ Start, End int }

// IsZero reports whether the span is missing.
func (s Span) IsZero() bool { return s.End == 0 }

// Of returns the bytes of the document at the span, or nil for the zero Span.
func (s Span) Of(doc []byte) []byte {
	if s.End == 0 {
		return nil
	}
	return doc[s.Start:s.End:s.End]
}

// Within converts a span relative to the value at outer to a span of the document. The zero Span
// stays zero.
func (s Span) Within(outer Span) Span {
	if s.End == 0 {
		return s
	}
	return Span{outer.Start + s.Start, outer.Start + s.End}
}

// A Cursor walks over a document that a Scanner has checked. It returns names and values in turn,
// and skips white space, commas and colons. In an ill-formed document it returns nonsense, but
// always reaches the end.
//
//	for c.Enter(); !c.Done(); {
//		switch string(c.Name()) {
//		case "id":
//			id = c.Raw()
//		default:
//			c.Value()
//		}
//	}
type Cursor struct {
	doc []byte
	pos int
}

// NewCursor returns a Cursor at the beginning of a document.
func NewCursor(doc []byte) Cursor { return Cursor{doc: doc} }

// Doc returns the document.
func (c *Cursor) Doc() []byte { return c.doc }

// Pos returns the offset that the Cursor stands at. After Peek it is where the next value begins.
func (c *Cursor) Pos() int { return c.pos }

// Peek returns the first byte of the next value, name or end of a container; 0 at
// the end of the document.
func (c *Cursor) Peek() byte {
	for ; c.pos < len(c.doc); c.pos++ {
		switch b := c.doc[c.pos]; b {
		case ' ', '\t', '\n', '\r', ',', ':': // their places were checked before
		default:
			return b
		}
	}
	return 0
}

// Enter steps into the next container.
func (c *Cursor) Enter() {
	c.Peek()
	c.pos = min(c.pos+1, len(c.doc))
}

// Done reports whether the current container has ended, and then steps out.
func (c *Cursor) Done() bool {
	if b := c.Peek(); b != '}' && b != ']' && b != 0 {
		return false
	}
	c.pos = min(c.pos+1, len(c.doc))
	return true
}

// Value skips the next value or name and returns its span.
func (c *Cursor) Value() Span {
	first, start := c.Peek(), c.pos
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
	return Span{start, c.pos}
}

// Raw skips the next value or name and returns its bytes.
func (c *Cursor) Raw() []byte { return c.Value().Of(c.doc) }

// Name skips the next name and returns its decoded text; see Word.
func (c *Cursor) Name() []byte { return Word(c.Raw()) }

func (c *Cursor) container() {
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

// stringEnd is StringEnd for a checked string. It finds the next quote after an even number of
// backslashes. An unterminated string ends with the document.
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
