package rawjson

import "encoding/binary"

// scanUTF8 checks the non-ASCII characters from p on, and single ASCII characters between them. It
// returns the offset reached, and the number of bytes in excess of characters; or the fault and its
// offset.
func scanUTF8(b []byte, p int) (next, extra int, f Fault) {
	for len(b)-p >= wordLength {
		x := binary.LittleEndian.Uint64(b[p:])
		switch {
		case x&0xc0c0f0c0c0f0 == 0x8080e08080e0 && isThree(x) && isThree(x>>24):
			p += 6
			extra += 4
		case x&0xc0e0c0e0 == 0x80c080c0 && x&0x1e != 0 && x&0x1e0000 != 0:
			p += 4
			extra += 2
		case x&0x80 == 0:
			if x&0x8000 == 0 || !plain[x&0xff] {
				return p, extra, 0
			}
			p++
		default:
			n := utf8Len(x)
			if n == 0 {
				return p, 0, BadUTF8
			}
			p += n
			extra += n - 1
		}
	}
	for p < len(b) && b[p] >= 0x80 {
		n := utf8Len(lastBytes(b[p:]))
		if n == 0 {
			return p, 0, BadUTF8
		}
		p += n
		extra += n - 1
	}
	return p, extra, 0
}

// isThree reports whether three bytes in the form of a character are valid. E0 80–9F would be
// overlong, ED A0–BF a surrogate.
func isThree(x uint64) bool {
	lead := x & 0x200f
	return lead != 0 && lead != 0x200d
}

// utf8Len returns the length of the non-ASCII character at the start of x, whose first byte is the
// lowest. It returns 0 if it is invalid: a stray or missing continuation byte, an overlong form, a
// surrogate, or beyond U+10FFFF.
func utf8Len(x uint64) int {
	switch {
	case x&0xc0c0f0 == 0x8080e0:
		if isThree(x) {
			return 3
		}
	case x&0xc0e0 == 0x80c0:
		if x&0x1e != 0 { // not C0 or C1
			return 2
		}
	case x&0xc0c0c0f8 == 0x808080f0:
		if lead := x & 0x3007; lead != 0 && lead&7 < 4 || lead == 4 { // from F0 90 to F4 8F
			return 4
		}
	}
	return 0
}

// lastBytes returns up to four first bytes of b, the first one lowest.
func lastBytes(b []byte) (x uint64) {
	for i := range min(4, len(b)) {
		x |= uint64(b[i]) << (8 * i)
	}
	return x
}
