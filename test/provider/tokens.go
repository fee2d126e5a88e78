package provider

import "hash/maphash"

// seed makes tokens comparable within a process.
var seed = maphash.MakeSeed()

// Tokens splits a text into pieces and yields a hash of each: up to six letters of a word with the
// space before it, up to three digits, two signs, a line's end with what it is indented by.
func Tokens(text string, yield func(token uint64)) {
	for i := 0; i < len(text); {
		end := i + pieceLength(text[i:])
		yield(maphash.String(seed, text[i:end]))
		i = end
	}
}

// Count is how many tokens a text has.
func Count(text string) (n int) {
	Tokens(text, func(uint64) { n++ })
	return n
}

func pieceLength(s string) int {
	n := 0
	if s[0] == ' ' && len(s) > 1 && isLetter(s[1]) {
		n = 1
	}
	switch c := s[n]; {
	case isLetter(c):
		return n + run(s[n:], 6, isLetter)
	case c >= '0' && c <= '9':
		return run(s, 3, func(c byte) bool { return c >= '0' && c <= '9' })
	case c == '\n':
		return 1 + run(s[1:], 64, func(c byte) bool { return c == ' ' || c == '\t' })
	case c == ' ' || c == '\t':
		return run(s, 16, func(c byte) bool { return c == ' ' || c == '\t' })
	case c >= 0x80:
		return run(s, 2, func(c byte) bool { return c >= 0x80 })
	default:
		return run(s, 2, isSign)
	}
}

func run(s string, most int, is func(byte) bool) (n int) {
	for n < min(most, len(s)) && is(s[n]) {
		n++
	}
	return max(n, min(1, len(s)))
}

func isSign(c byte) bool { return c > ' ' && c < 0x80 && !isLetter(c) && (c < '0' || c > '9') }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
