package prune

// A word is a run of letters, digits and underscores. It is split where an identifier joins its
// parts (camelCase, snake_case, letters and digits). Every part is lower-cased and stemmed, and a
// word of several parts also counts as a whole. Ideographs count in pairs, since only a dictionary
// could separate their words. A term is the hash of such a part.

type charClass uint8

const (
	sepClass   charClass = iota
	upperClass           // A–Z
	lowerClass           // a–z
	digitClass
	underClass
	wideClass // a byte of a non-ASCII character
)

var classes = func() (t [256]charClass) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = upperClass
		case c >= 'a' && c <= 'z':
			t[c] = lowerClass
		case c >= '0' && c <= '9':
			t[c] = digitClass
		case c == '_':
			t[c] = underClass
		case c >= 0x80:
			t[c] = wideClass
		}
	}
	return t
}()

// maxPart is how many bytes of a part count; the rest of a longer one is ignored.
const maxPart = 40

// splitter splits text into terms. It is reused from line to line.
type splitter struct {
	buf [maxPart]byte
	// Offsets in the text; end - start may exceed maxPart.
	emit func(term uint64, start, end int, compound bool)

	into  *text // receives the terms of its next row instead of emit, which costs more
	known *knownWords
}

func (s *splitter) send(term uint64, start, end int, compound bool) {
	if t := s.into; t != nil {
		t.terms = append(t.terms, t.vocab.add(term, len(t.line), start, end, compound, classes[t.src[start]] == digitClass))
		return
	}
	s.emit(term, start, end, compound)
}

// split emits the terms of text[start:end].
func (s *splitter) split(text string, start, end int) {
	if s.known != nil {
		s.known.split(s, text, start, end)
		return
	}
	for i := start; i < end; {
		if classes[text[i]] == sepClass || text[i] == '_' {
			if text[i] == 0x1b {
				i = skipEscape(text, i, end)
			} else {
				i++
			}
			continue
		}
		i = s.word(text, i, end)
	}
}

// word emits the terms of the word at i and returns its end.
func (s *splitter) word(text string, i, end int) int {
	start, parts, n := i, 0, 0
	partStart := i
	flush := func(at int) {
		if n > 0 {
			s.send(hashBytes(s.buf[:stem(s.buf[:n])]), partStart, at, false)
			parts++
			n = 0
		}
		partStart = at
	}
	prev := sepClass
	for i < end {
		c := text[i]
		class := classes[c]
		switch class {
		case sepClass:
			goto done
		case wideClass:
			size, folded, sort := wideChar(text[i:end])
			if sort != letter {
				if i > start {
					goto done
				}
				if sort == ideograph {
					return s.ideographs(text, i, end)
				}
				return i + size
			}
			if prev == digitClass {
				flush(i)
			}
			if folded != 0 {
				if n < maxPart {
					s.buf[n] = folded
					n++
				}
			} else {
				for k := 0; k < size && n < maxPart; k++ {
					s.buf[n] = text[i+k]
					n++
				}
			}
			i += size
			prev = lowerClass
			continue
		case underClass:
			flush(i)
			i++
			partStart, prev = i, underClass
			continue
		case upperClass:
			if prev == lowerClass || prev == digitClass ||
				prev == upperClass && i+1 < end && classes[text[i+1]] == lowerClass {
				flush(i)
			}
			c |= 0x20
		case lowerClass:
			if prev == digitClass {
				flush(i)
			}
			for i < end && classes[text[i]] == lowerClass { // the common case
				if n < maxPart {
					s.buf[n] = text[i]
					n++
				}
				i++
			}
			prev = lowerClass
			continue
		case digitClass:
			if prev != digitClass {
				flush(i)
			}
		}
		if n < maxPart {
			s.buf[n] = c
			n++
		}
		prev = class
		i++
	}
done:
	flush(i)
	if parts > 1 {
		s.send(hashWhole(text[start:i]), start, i, true)
	}
	return i
}

// ideographs emits pairs of neighbouring ideographs, or a single one, and returns the end of the
// run.
func (s *splitter) ideographs(text string, i, end int) int {
	prev, first := -1, i
	for i < end {
		size, _, sort := wideChar(text[i:end])
		if classes[text[i]] != wideClass || sort != ideograph {
			break
		}
		if prev >= 0 {
			s.send(hashWhole(text[prev:i+size]), prev, i+size, false)
		}
		prev = i
		i += size
	}
	if prev == first {
		s.send(hashWhole(text[first:i]), first, i, false)
	}
	return i
}

// wideSort classifies non-ASCII characters.
type wideSort uint8

const (
	letter wideSort = iota
	ideograph
	punctuation // quotes, dashes, arrows, box drawing: they end a word
)

// wideChar examines the non-ASCII character at the start of s: its length, the plain letter of an
// accented one (0: none), and its sort. Invalid UTF-8 bytes count as letters.
func wideChar(s string) (size int, folded byte, sort wideSort) {
	c := s[0]
	switch {
	case c < 0xc2 || len(s) < 2 || s[1]&0xc0 != 0x80:
		return 1, 0, letter
	case c < 0xe0:
		r := rune(c&0x1f)<<6 | rune(s[1]&0x3f)
		if r < 0xc0 {
			return 2, 0, punctuation // Latin-1 signs
		}
		if r < 0x180 {
			return 2, latin[r-0xc0], letter
		}
		return 2, 0, letter
	case len(s) < 3 || s[2]&0xc0 != 0x80:
		return 1, 0, letter
	case c < 0xf0:
		r := rune(c&0xf)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
		switch {
		case r >= 0x2000 && r < 0x2c00 || r >= 0x3000 && r < 0x3040 || r >= 0xff00 && r < 0xff10:
			return 3, 0, punctuation
		case r >= 0x3040 && r < 0xa000 || r >= 0xac00 && r < 0xd7b0 || r >= 0xf900 && r < 0xfb00:
			return 3, 0, ideograph
		}
		return 3, 0, letter
	case len(s) < 4 || s[3]&0xc0 != 0x80:
		return 1, 0, letter
	}
	return 4, 0, letter
}

// latin maps U+00C0 … U+017F to plain lower-case letters.
const latin = "aaaaaaaceeeeiiiidnooooo\x00ouuuuytsaaaaaaaceeeeiiiidnooooo\x00ouuuuytyaaaaaacccc" +
	"ccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnlnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// stem cuts common English endings off a lower-case part, in place, and returns its new length.
func stem(w []byte) int {
	n := len(w)
	switch {
	case n > 5 && w[n-3] == 'i' && w[n-2] == 'n' && w[n-1] == 'g':
		n -= 3
	case n > 4 && w[n-3] == 'i' && w[n-2] == 'e' && (w[n-1] == 'd' || w[n-1] == 's'):
		w[n-3] = 'y'
		n -= 2
	case n > 4 && w[n-2] == 'e' && w[n-1] == 'd':
		n -= 2
	case n > 4 && w[n-2] == 'e' && w[n-1] == 's' && (w[n-3] == 's' || w[n-3] == 'x' || w[n-3] == 'z' || w[n-3] == 'h'):
		n -= 2
	case n > 3 && w[n-1] == 's' && w[n-2] != 's':
		n--
	}
	if n > 4 && w[n-1] == 'e' {
		n--
	}
	if n > 4 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
		n--
	}
	return n
}

const (
	hashSeed  = 0x9e3779b97f4a7c15
	hashPrime = 0xff51afd7ed558ccd
)

func hashBytes(b []byte) uint64 {
	h := uint64(hashSeed)
	for _, c := range b {
		h = (h ^ uint64(c)) * hashPrime
		h ^= h >> 29
	}
	return h
}

// hashWhole hashes a whole word, ignoring ASCII case. A part and a whole word with the same letters
// are the same term.
func hashWhole(s string) uint64 {
	h := uint64(hashSeed)
	for i := range min(len(s), 2*maxPart) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * hashPrime
		h ^= h >> 29
	}
	return h
}
