package rawjson

import "math"

// noStrings as a number of characters means that no string is recorded.
const noStrings = math.MaxInt

// walk checks the value at p and records its strings of more than moreThan characters. It returns
// the offset just past it; or the fault and its offset.
func (s *Scanner) walk(p, moreThan int) (int, Fault) {
	var (
		b     = s.doc
		room  = s.maxDepth - s.depth
		names = s.Unique
		f     Fault

		depth int
		kinds uint64 // kinds of the innermost open containers
		words [8]uint64
		outer = words[:0] // kinds of the others
	)
	for {
		// A value starts here.
		p = skipSpace(b, p)
		if p >= len(b) {
			return p, Truncated
		}
		switch c := b[p]; c {
		case '"':
			start, extra := p, 0
			if p, extra, f = scanString(b, p+1); f != 0 {
				return p, f
			}
			if chars := p - start - 2 - extra; chars > moreThan {
				s.long = append(s.long, String{Start: start, End: p, Chars: chars})
			}
		case '{':
			if depth >= room {
				return p, TooDeep
			}
			kinds, outer = push(kinds, outer, depth, object)
			depth++
			if names {
				s.names.open()
			}
			p = skipSpace(b, p+1)
			if p >= len(b) {
				return p, Truncated
			}
			if b[p] != '}' {
				if _, p, f = s.scanName(p, names); f != 0 {
					return p, f
				}
				continue
			}
		case '[':
			for { // arrays of arrays
				if depth >= room {
					return p, TooDeep
				}
				kinds, outer = push(kinds, outer, depth, array)
				depth++
				p = skipSpace(b, p+1)
				if p >= len(b) {
					return p, Truncated
				}
				if b[p] != '[' {
					break
				}
			}
			if b[p] != ']' {
				continue
			}
		case 't':
			if p, f = scanLiteral(b, p, "true"); f != 0 {
				return p, f
			}
		case 'f':
			if p, f = scanLiteral(b, p, "false"); f != 0 {
				return p, f
			}
		case 'n':
			if p, f = scanLiteral(b, p, "null"); f != 0 {
				return p, f
			}
		default:
			if c != '-' && !isDigit(c) {
				return p, NoValue
			}
			if p, f = scanNumber(b, p); f != 0 {
				return p, f
			}
		}

		// A value has ended, or an empty container is about to.
		for {
			if depth == 0 {
				return p, 0
			}
			p = skipSpace(b, p)
			if p >= len(b) {
				return p, Truncated
			}
			c := b[p]
			if c == ',' {
				p++
				if kinds&1 == object {
					p = skipSpace(b, p)
					if _, p, f = s.scanName(p, names); f != 0 {
						return p, f
					}
				}
				break
			}
			if kinds&1 == object {
				if c != '}' {
					return p, NoComma
				}
				if names {
					s.names.close()
				}
			} else if c != ']' {
				return p, NoComma
			}
			depth--
			kinds, outer = pop(kinds, outer, depth)
			p++
		}
	}
}

// The kind of an open container is one bit.
const (
	array  = 0
	object = 1
)

// push adds a container to depth open ones. Their kinds are kept 64 per word, the innermost in the
// lowest bit.
func push(kinds uint64, outer []uint64, depth int, kind uint64) (uint64, []uint64) {
	if depth%64 == 0 {
		outer = append(outer, kinds)
	}
	return kinds<<1 | kind, outer
}

// pop removes the innermost container; depth are left.
func pop(kinds uint64, outer []uint64, depth int) (uint64, []uint64) {
	if depth%64 == 0 {
		last := len(outer) - 1
		return outer[last], outer[:last]
	}
	return kinds >> 1, outer
}

// scanName checks the member name at p and the colon after it. It returns the offsets just past the
// name and just past the colon.
func (s *Scanner) scanName(p int, unique bool) (nameEnd, next int, f Fault) {
	b, start := s.doc, p
	if p >= len(b) {
		return 0, p, Truncated
	}
	if b[p] != '"' {
		return 0, p, NoName
	}
	nameEnd, extra, f := scanString(b, p+1)
	if f != 0 {
		return 0, nameEnd, f
	}
	p = nameEnd
	s.seen.add(b[start+1], b[nameEnd-2], nameEnd-start-2, extra > 0)
	if unique && !s.names.add(b[start:nameEnd], extra > 0) {
		return 0, start, DuplicateName
	}
	p = skipSpace(b, p)
	if p >= len(b) {
		return 0, p, Truncated
	}
	if b[p] != ':' {
		return 0, p, NoColon
	}
	return nameEnd, p + 1, 0
}

const spaceBits = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

// skipSpace returns the offset of the first byte from p on that is not white space.
func skipSpace(b []byte, p int) int {
	for p < len(b) && b[p] <= ' ' && spaceBits>>b[p]&1 != 0 {
		p++
	}
	return p
}
