package rawjson

import "bytes"

// A String is a string value in a document.
type String struct {
	Start, End int // offsets of the opening quote and just past the closing one
	Chars      int // code points of the decoded string
}

// A Scanner reads one document from front to back. It must not be used after an error. Set its
// fields before the first call.
type Scanner struct {
	// Unique refuses duplicate names in skipped objects too.
	Unique bool

	doc      []byte
	pos      int
	maxDepth int
	depth    int  // number of entered containers
	fresh    bool // the container just entered has shown no member yet
	names    names
	long     []String
	seen     nameSet
}

// NewScanner returns a Scanner at the start of doc. It refuses more than maxDepth nested
// containers.
func NewScanner(doc []byte, maxDepth int) Scanner {
	return Scanner{doc: doc, maxDepth: maxDepth}
}

// Peek returns the first byte of the next value without moving past it; 0 at the end of the
// document.
func (s *Scanner) Peek() byte {
	s.pos = skipSpace(s.doc, s.pos)
	if s.pos >= len(s.doc) {
		return 0
	}
	return s.doc[s.pos]
}

// Pos returns the current offset.
func (s *Scanner) Pos() int { return s.pos }

// Enter steps into the next value, an object. Read it with Next. The names of an entered object
// must be unique.
func (s *Scanner) Enter() error {
	switch c := s.Peek(); {
	case c == 0 && s.pos >= len(s.doc):
		return s.fail(s.pos, Truncated)
	case c != '{':
		return s.fail(s.pos, NotObject)
	case s.depth >= s.maxDepth:
		return s.fail(s.pos, TooDeep)
	}
	s.pos++
	s.depth++
	s.fresh = true
	s.names.open()
	return nil
}

// Next moves to the next member of the innermost entered object and returns its raw name, with
// quotes. The position is then before the member's value, which the caller enters or skips. At the
// end of the object it returns nil, with the position after the object.
func (s *Scanner) Next() (name []byte, err error) {
	c := s.Peek()
	switch {
	case s.pos >= len(s.doc):
		return nil, s.fail(s.pos, Truncated)
	case c == '}':
		s.pos++
		s.depth--
		s.fresh = false
		s.names.close()
		return nil, nil
	case s.fresh:
		s.fresh = false
	case c != ',':
		return nil, s.fail(s.pos, NoComma)
	default:
		s.pos = skipSpace(s.doc, s.pos+1)
	}
	start := s.pos
	nameEnd, next, f := s.scanName(start, true)
	if f != 0 {
		return nil, s.fail(next, f)
	}
	s.pos = next
	return s.doc[start:nameEnd], nil
}

// Skip checks the next value, moves past it, and returns its bytes.
func (s *Scanner) Skip() ([]byte, error) { return s.SkipNoting(noStrings) }

// SkipNoting is Skip that also records strings of more than moreThan characters, except names. Long
// returns them.
func (s *Scanner) SkipNoting(moreThan int) ([]byte, error) {
	start := skipSpace(s.doc, s.pos)
	end, f := s.walk(start, moreThan)
	if f != 0 {
		return nil, s.fail(end, f)
	}
	s.pos = end
	return s.doc[start:end:end], nil
}

// Long returns the recorded strings, in document order.
func (s *Scanner) Long() []String { return s.long }

// MayHave reports whether an object seen so far may have a member of that name. It may report false
// positives, never false negatives.
func (s *Scanner) MayHave(name string) bool { return s.seen.may(name) }

// End checks that only white space follows.
func (s *Scanner) End() error {
	if s.Peek(); s.pos < len(s.doc) {
		return s.fail(s.pos, TrailingData)
	}
	return nil
}

func (s *Scanner) fail(offset int, f Fault) error {
	return &SyntaxError{Fault: f, Offset: offset}
}

// LongStrings checks doc, one JSON value, and returns its strings of more than moreThan characters,
// in document order.
func LongStrings(doc []byte, maxDepth, moreThan int) ([]String, error) {
	s := NewScanner(doc, maxDepth)
	if _, err := s.SkipNoting(moreThan); err != nil {
		return nil, err
	}
	if err := s.End(); err != nil {
		return nil, err
	}
	return s.long, nil
}

// Check returns an error unless doc is one JSON value.
func Check(doc []byte, maxDepth int) error {
	_, err := LongStrings(doc, maxDepth, noStrings)
	return err
}

// Trim returns doc without the white space around it.
func Trim(doc []byte) []byte { return bytes.Trim(doc, " \t\r\n") }
