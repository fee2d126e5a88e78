package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// Eight copies of one byte, to look at eight bytes of a document at once.
const (
	wordLength = 8
	ones       = 0x0101010101010101
	highs      = 0x80 * ones
	spaces     = ' ' * ones
	slashes    = '\\' * ones
)

// special returns a word whose lowest set bit lies in the first byte of x that is
// a quote, a backslash, a control character or not ASCII; 0 if none is. Bits above
// that byte may be wrong: a subtraction borrows from the bytes above the first hit,
// never from those below it. The first difference changes places of quote and space, so
// that what is below the quote then are the control characters.
func special(x uint64) uint64 {
	return (((x ^ ('"'^' ')*ones) - (' '+1)*ones) | ((x ^ slashes) - ones) | x) & highs
}

// scanString checks the string whose text starts at p, just past the opening
// quote. It returns the offset just past the closing quote, and by how many the
// raw bytes outnumber the characters they stand for; or the fault and where it is.
func scanString(b []byte, p int) (end, extra int, f Fault) {
	last := len(b) - wordLength // where the last word starts
	for {
	words:
		for p <= last {
			x := binary.LittleEndian.Uint64(b[p:])
			m := special(x)
			// A short character that stands alone is dealt with inside the word, so that
			// the next load need not wait for where it was. The bytes that are shifted in
			// are zero and make none of the forms complete.
			for m != 0 {
				shift := bits.TrailingZeros64(m) - 7
				switch y := x >> shift; {
				case y&0xff == '"':
					return p + shift/8 + 1, extra, 0
				case y&0xff == '\\' && simpleEscape[y>>8&0xff] && y>>16&0xff != '\\':
					m &^= 0x8080 << shift
					extra++
				case y&0x80c0e0 == 0x80c0 && y&0x1e != 0:
					m &^= 0x8080 << shift
					extra++
				case y&0x80c0c0f0 == 0x8080e0 && isThree(y):
					m &^= 0x808080 << shift
					extra += 2
				default:
					p += shift / 8
					break words
				}
			}
			p += wordLength
		}
		for p < len(b) && plain[b[p]] { // few: the document ends, or special was wrong
			p++
		}
		if p >= len(b) {
			return len(b), 0, Truncated
		}
		var over int
		switch c := b[p]; {
		case c == '"':
			return p + 1, extra, 0
		case c == '\\':
			p, over, f = scanEscapes(b, p)
		case c < ' ':
			f = ControlChar
		default:
			p, over, f = scanUTF8(b, p)
		}
		if f != 0 {
			return p, 0, f
		}
		extra += over
	}
}

// plain holds the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
