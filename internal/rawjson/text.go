package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Unquote decodes raw, a JSON string with its quotes, into WTF-8. Invalid escapes in an ill-formed
// string stay as they are.
func Unquote(raw []byte) string {
	text := raw[1 : len(raw)-1]
	i := bytes.IndexByte(text, '\\')
	if i < 0 {
		return string(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	for i >= 0 {
		b.Write(text[:i])
		text = text[i:]
		for len(text) > 0 && text[0] == '\\' {
			text = text[writeEscaped(&b, text):]
		}
		i = bytes.IndexByte(text, '\\')
	}
	b.Write(text)
	if b.Cap()-b.Len() > b.Len()/4 {
		return strings.Clone(b.String()) // it may be kept for long
	}
	return b.String()
}

// writeEscaped decodes the escape, or surrogate pair, at the start of text, and returns its length.
func writeEscaped(b *strings.Builder, text []byte) int {
	switch {
	case len(text) < 2 || text[1] == 'u' && len(text) < 6:
		b.Write(text)
		return len(text)
	case text[1] != 'u':
		b.WriteByte(unescaped[text[1]])
		return 2
	}
	unit, _ := hex4(text, 2)
	switch {
	case unit>>11 != highSurrogate>>11:
		b.WriteRune(unit)
		return 6
	case unit < lowSurrogate && isLowEscape(text, 6):
		low, _ := hex4(text, 8)
		b.WriteRune(0x10000 + (unit-highSurrogate)<<10 + (low - lowSurrogate))
		return 12
	}
	// A lone surrogate: three bytes, as for any other code point of that size.
	b.Write([]byte{0xe0 | byte(unit>>12), 0x80 | byte(unit>>6&0x3f), 0x80 | byte(unit&0x3f)})
	return 6
}

// unescaped maps a byte after a backslash to its meaning.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendQuoted appends s, WTF-8, as a JSON string. A lone surrogate is written as an escape. Any
// other invalid byte becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendEscaped is AppendQuoted without the quotes.
func AppendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0 // start of the bytes to copy unchanged
	for i := 0; i < len(s); {
		for len(s)-i >= wordLength && special(binary.LittleEndian.Uint64([]byte(s[i:i+wordLength]))) == 0 {
			i += wordLength
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= 0x80 {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			dst = append(dst, s[start:i]...)
			if isSurrogate(s[i:]) {
				dst = append(dst, '\\', 'u', 'd', hex[s[i+1]>>2&0xf], hex[s[i+1]&3<<2|s[i+2]>>4&3], hex[s[i+2]&0xf])
				i += 3
			} else {
				dst = append(dst, "\ufffd"...)
				i++
			}
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// isSurrogate reports whether s starts with a surrogate in its three-byte form.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1]>>5 == 0xa0>>5 && s[2]>>6 == 0x80>>6
}

// CountChars returns the number of code points in the decoded form of raw, a well-formed JSON
// string with its quotes.
func CountChars(raw []byte) int {
	_, extra, _ := scanString(raw, 1)
	return len(raw) - 2 - extra
}

// Chars returns the number of code points in s, WTF-8. A lone surrogate counts as one.
func Chars(s string) int {
	n := 0
	for len(s) >= wordLength {
		// A continuation byte has the top bit set and the next one clear.
		x := binary.LittleEndian.Uint64([]byte(s[:wordLength]))
		n += wordLength - bits.OnesCount64(x&^(x<<1)&highs)
		s = s[wordLength:]
	}
	for i := range len(s) {
		if s[i]>>6 != 0x80>>6 {
			n++
		}
	}
	return n
}

// StringEnd returns the offset just past the string that starts at an offset in a well-formed
// document.
func StringEnd(doc []byte, start int) int {
	end, _, _ := scanString(doc, start+1)
	return end
}
