package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// Eight copies of one byte, to test eight bytes of a document at once.
const (
	wordLength = 8
	ones       = 0x0101010101010101
	highs      = 0x80 * ones
	spaces     = ' ' * ones
	slashes    = '\\' * ones
)

// special marks the first byte of x that is a quote, a backslash, a control character or not ASCII.
// Its lowest set bit is in that byte; 0: none. Higher bits may be wrong: a subtraction borrows from
// the bytes above the first hit, never from those below. The first XOR swaps quote and space, so
// that below the quote there are only control characters.
func special(x uint64) uint64 {
	return (((x ^ ('"'^' ')*ones) - (' '+1)*ones) | ((x ^ slashes) - ones) | x) & highs
}

// scanString checks the string whose text starts at p, just past the opening quote. It returns the
// offset just past the closing quote, and the number of raw bytes in excess of characters; or the
// fault and its offset.
func scanString(b []byte, p int) (end, extra int, f Fault) {
	last := len(b) - wordLength // start of the last word
	for {
	words:
		for p <= last {
			x := binary.LittleEndian.Uint64(b[p:])
			m := special(x)
			// A single short character is handled inside the word, so the next load need not wait
			// for its position. The bytes shifted in are zero and complete none of the forms.
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
		for p < len(b) && plain[b[p]] { // few: the end of the document, or a false hit of special
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

// plain holds the bytes that represent themselves in a string.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
