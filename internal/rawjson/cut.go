package rawjson

// HeadEnd returns the offset just past the first n characters of raw, a well-formed JSON string
// with its quotes. It never splits an escape, a surrogate pair or a UTF-8 sequence. The string must
// have that many characters.
func HeadEnd(raw []byte, n int) int {
	p := 1
	for range n {
		switch c := raw[p]; {
		case c == '\\':
			width, _, _ := scanEscape(raw, p)
			p += width
		case c < 0x80:
			p++
		default:
			for p++; raw[p]>>6 == 0x80>>6; p++ {
			}
		}
	}
	return p
}

// TailStart returns the offset of the last n characters of raw, a well-formed JSON string with its
// quotes. It never splits an escape, a surrogate pair or a UTF-8 sequence. The string must have
// that many characters. The effort depends on n and on runs of backslashes, not on the length of
// the string.
func TailStart(raw []byte, n int) int {
	p := len(raw) - 1
	for range n {
		p = charBefore(raw, p)
	}
	return p
}

// charBefore returns the start of the character that ends just before p.
func charBefore(raw []byte, p int) int {
	switch c := raw[p-1]; {
	case c >= 0x80:
		for p--; raw[p]>>6 == 0x80>>6; p-- {
		}
		return p
	case c == '\\':
		return p - 2 // a backslash at the end of a character is an escaped one
	case simpleEscape[c] && isEscape(raw, p-2):
		return p - 2
	}
	unit, ok := unitBefore(raw, p)
	if !ok {
		return p - 1
	}
	p -= 6
	if unit>>10 == lowSurrogate>>10 {
		if unit, ok := unitBefore(raw, p); ok && unit>>10 == highSurrogate>>10 {
			p -= 6
		}
	}
	return p
}

// unitBefore decodes the \uXXXX escape that ends just before p, if there is one.
func unitBefore(raw []byte, p int) (unit rune, ok bool) {
	if p < 7 || raw[p-6] != '\\' || raw[p-5] != 'u' || !isEscape(raw, p-6) {
		return 0, false
	}
	return hex4(raw, p-4)
}

// isEscape reports whether the byte at p is a backslash that starts an escape. An even number of
// backslashes must precede it. Walking through a run of backslashes counts it at most twice.
func isEscape(raw []byte, p int) bool {
	if p < 1 || raw[p] != '\\' {
		return false
	}
	row := p
	for row > 0 && raw[row-1] == '\\' {
		row--
	}
	return (p-row)%2 == 0
}
