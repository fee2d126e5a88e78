package rawjson

// EnterList steps into the next value, an array. Read it with NextItem.
func (s *Scanner) EnterList() error {
	switch c := s.Peek(); {
	case c == 0 && s.pos >= len(s.doc):
		return s.fail(s.pos, Truncated)
	case c != '[':
		return s.fail(s.pos, NotArray)
	case s.depth >= s.maxDepth:
		return s.fail(s.pos, TooDeep)
	}
	s.pos++
	s.depth++
	s.fresh = true
	return nil
}

// NextItem moves to the next value of the last entered array. The caller enters or skips that
// value. At the end of the array it returns false, with the position after the array.
func (s *Scanner) NextItem() (bool, error) {
	c := s.Peek()
	switch {
	case s.pos >= len(s.doc):
		return false, s.fail(s.pos, Truncated)
	case c == ']':
		s.pos++
		s.depth--
		s.fresh = false
		return false, nil
	case s.fresh:
		s.fresh = false
	case c != ',':
		return false, s.fail(s.pos, NoComma)
	default:
		s.pos++
	}
	return true, nil
}

// Jump moves to an offset just past an item of the array that was just entered. The caller must
// have had the same bytes checked before.
func (s *Scanner) Jump(to int) { s.pos, s.fresh = to, false }

// SkipString is Skip for a string. It also returns the number of characters in the decoded string.
func (s *Scanner) SkipString() (raw []byte, chars int, err error) {
	start := skipSpace(s.doc, s.pos)
	switch {
	case start >= len(s.doc):
		return nil, 0, s.fail(start, Truncated)
	case s.doc[start] != '"':
		return nil, 0, s.fail(start, NotString)
	}
	end, extra, f := scanString(s.doc, start+1)
	if f != 0 {
		return nil, 0, s.fail(end, f)
	}
	s.pos = end
	return s.doc[start:end:end], end - start - 2 - extra, nil
}
