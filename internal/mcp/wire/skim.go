package wire

import "secateur/internal/rawjson"

// A skimmer finds the id of a message that arrives in pieces and is not kept, or that is malformed.
// It tracks strings and brackets of any depth and checks nothing else.
type skimmer struct {
	state   skimState
	depth   int    // number of open brackets
	inside  bool   // inside a string
	escaped bool   // the previous byte was a backslash that starts an escape
	known   bool   // the current value is the id
	keep    []byte // the current name, or the id's value, as far as read
	id      ID
	ids     int  // number of ids found
	isCall  bool // a method was found
}

type skimState uint8

const (
	skimStart skimState = iota // before the object
	skimName                   // up to the end of a name
	skimColon                  // up to the colon
	skimValue                  // up to the end of the value
	skimDone                   // after the object, or the document is not an object
)

// How many bytes are kept. A longer name is none that we look for; a longer id is not worth
// answering.
const (
	keepName = 64
	keepID   = 4096
)

// skim scans a whole document.
func skim(doc []byte) *skimmer {
	var s skimmer
	_, _ = s.Write(doc)
	return &s
}

// ID returns the top-level id if exactly one exists and it is a string or a number.
func (s *skimmer) ID() ID {
	if s.ids != 1 {
		return ID{}
	}
	return s.id
}

// Write scans the next piece of the message.
func (s *skimmer) Write(b []byte) (int, error) {
	for i := 0; i < len(b) && s.state != skimDone; i++ {
		if s.inside {
			i += s.inString(b[i:])
			continue
		}
		switch c := b[i]; c {
		case '"':
			s.inside = true
			if s.state == skimName {
				s.keep = s.keep[:0]
			}
			s.keepBytes(b[i : i+1])
		case ' ', '\t', '\n', '\r':
			if s.known && len(s.keep) > 0 {
				s.keepBytes(b[i : i+1])
			}
		default:
			s.outside(b[i : i+1])
		}
	}
	return len(b), nil
}

// inString consumes the bytes of a string up to its end and returns the offset of the last byte
// consumed.
func (s *skimmer) inString(b []byte) int {
	for i, c := range b {
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.keepBytes(b[:i+1])
			s.inside = false
			if s.state == skimName {
				s.state = skimColon
			}
			return i
		}
	}
	s.keepBytes(b)
	return len(b) - 1
}

// outside handles a byte that is not white space and not part of a string.
func (s *skimmer) outside(b []byte) {
	c := b[0]
	switch {
	case s.state == skimStart:
		s.state, s.depth = skimName, 1
		if c != '{' {
			s.state = skimDone
		}
		return
	case s.state == skimColon && c == ':':
		s.name()
		s.state = skimValue
		return
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
	}
	switch {
	case s.depth == 0:
		s.value()
		s.state = skimDone
	case s.depth == 1 && c == ',':
		s.value()
		s.state = skimName
	default:
		s.keepBytes(b)
	}
}

// keepBytes keeps bytes that belong to a name or to the id.
func (s *skimmer) keepBytes(b []byte) {
	limit := 0
	switch {
	case s.known:
		limit = keepID
	case s.state == skimName:
		limit = keepName
	}
	// One byte over the limit shows that the limit was exceeded.
	s.keep = append(s.keep, b[:min(len(b), max(0, limit+1-len(s.keep)))]...)
}

// name handles a complete member name.
func (s *skimmer) name() {
	if len(s.keep) <= keepName && rawjson.Check(s.keep, 0) == nil {
		switch stringText(s.keep) {
		case "id":
			s.known = true
		case "method":
			s.isCall = true
		}
	}
	s.keep = s.keep[:0]
}

// value handles a complete value.
func (s *skimmer) value() {
	if s.known {
		s.ids++
		if raw := rawjson.Trim(s.keep); len(s.keep) <= keepID && rawjson.Check(raw, 0) == nil {
			s.id = IDOf(raw)
		}
	}
	s.known = false
	s.keep = s.keep[:0]
}
