package rawjson

import "encoding/binary"

// scanEscapes checks the consecutive escapes from p on. It returns the offset just past them, and
// the number of bytes in excess of characters; or the fault and its offset.
func scanEscapes(b []byte, p int) (next, extra int, f Fault) {
	for p < len(b) && b[p] == '\\' {
		if p+1 < len(b) && simpleEscape[b[p+1]] {
			p += 2
			extra++
			continue
		}
		if len(b)-p >= twoUnits && areUnits(b[p:]) {
			p += 12
			extra += 10
			continue
		}
		n, over, f := scanEscape(b, p)
		if f != 0 {
			return p, 0, f
		}
		p += n
		extra += over
	}
	return p, extra, 0
}

// twoUnits is the number of bytes that areUnits reads.
const twoUnits = 14

// areUnits reports whether b starts with two \uXXXX escapes of one character each. It returns false
// if the second may belong to a surrogate pair.
func areUnits(b []byte) bool {
	first, second := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[6:])
	const unit = '\\' | 'u'<<8
	if first&0xffff != unit || second&0xffff != unit {
		return false
	}
	// All eight digits, in one word.
	x := first>>16&0xffffffff | second>>16<<32
	if x>>32&0xdf == 'D' {
		return false
	}
	// notDigit has the highest bit of each byte set that is not 0–9. notLetter has it for bytes
	// that are not A–F or a–f. Both hold only if all bytes are ASCII.
	digit, letter := x^'0'*ones, (x|spaces)^0x60*ones
	notDigit := digit + (0x80-10)*ones
	notLetter := (letter + (0x80-7)*ones) | (highs - letter)
	return (x|notDigit&notLetter)&highs == 0
}

// scanEscape checks the escape whose backslash is at p. It treats a pair of escaped surrogates as
// one. It returns the number of bytes, and the bytes in excess of the one character.
func scanEscape(b []byte, p int) (n, extra int, f Fault) {
	if len(b)-p < 2 {
		return 0, 0, Truncated
	}
	if b[p+1] != 'u' {
		if !simpleEscape[b[p+1]] {
			return 0, 0, BadEscape
		}
		return 2, 1, 0
	}
	if len(b)-p < 6 {
		return 0, 0, hexFault(b[p+2:])
	}
	unit, ok := hex4(b, p+2)
	if !ok {
		return 0, 0, BadEscape
	}
	if unit>>10 == highSurrogate>>10 && isLowEscape(b, p+6) {
		return 12, 11, 0
	}
	return 6, 5, 0
}

// hexFault returns the fault of an escape that lacks digits because the document ends.
func hexFault(digits []byte) Fault {
	for _, c := range digits {
		if hexValue[c] > 0xf {
			return BadEscape
		}
	}
	return Truncated
}

// Surrogates are the code units D800–DBFF (high) and DC00–DFFF (low).
const (
	highSurrogate = 0xd800
	lowSurrogate  = 0xdc00
)

// hex4 decodes the four hexadecimal digits at p, which must be within b.
func hex4(b []byte, p int) (unit rune, ok bool) {
	d := b[p : p+4 : p+4]
	h0, h1, h2, h3 := hexValue[d[0]], hexValue[d[1]], hexValue[d[2]], hexValue[d[3]]
	return rune(h0)<<12 | rune(h1)<<8 | rune(h2)<<4 | rune(h3), h0|h1|h2|h3 <= 0xf
}

// isLowEscape reports whether an escaped low surrogate starts at p.
func isLowEscape(b []byte, p int) bool {
	if len(b)-p < 6 || b[p] != '\\' || b[p+1] != 'u' {
		return false
	}
	unit, ok := hex4(b, p+2)
	return ok && unit>>10 == lowSurrogate>>10
}

// simpleEscape holds the bytes that may follow a backslash, except u.
var simpleEscape = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// hexValue maps a hexadecimal digit to its value, and any other byte to 255.
var hexValue = func() (t [256]uint8) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = uint8(c - '0')
		case 'a' <= c && c <= 'f':
			t[c] = uint8(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			t[c] = uint8(c - 'A' + 10)
		default:
			t[c] = 255
		}
	}
	return t
}()
