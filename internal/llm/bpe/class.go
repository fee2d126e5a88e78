package bpe

import (
	_ "embed"
	"unicode"
)

// class is the kind of a character in the pattern that splits a text into pieces.
type class uint8

const (
	sign    class = iota // none of the following
	upper                // Lu, Lt
	lower                // Ll
	letter               // Lm, Lo: belongs to upper and to lower case
	mark                 // M: belongs to upper and to lower case, but does not match \p{L}
	digit                // N
	space                // \s, except line ends
	newline              // \r, \n
	wide                 // first byte of a multi-byte character
)

// byteClass is the class of each byte. Most texts need no other table.
var byteClass = [256]class{
	sign, sign, sign, sign, sign, sign, sign, sign, sign, space, newline, space, space, newline, sign, sign,
	sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign,
	space, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign, sign,
	digit, digit, digit, digit, digit, digit, digit, digit, digit, digit, sign, sign, sign, sign, sign, sign,
	sign, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper,
	upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, upper, sign, sign, sign, sign, sign,
	sign, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower,
	lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, lower, sign, sign, sign, sign, sign,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
	wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
}

// classes has one byte for each character of the basic plane. It saves searching Unicode's tables
// for each character.
//
//go:embed class.bin
var classes string

// basicPlane is the number of characters in the table.
const basicPlane = 1 << 16

func classOf(r rune) class {
	if r < basicPlane {
		return class(classes[r])
	}
	if r >= 0x1F300 && r < 0x1FB00 { // emoji
		return sign
	}
	return lookUpClass(r)
}

// PackClasses returns the contents of class.bin.
func PackClasses() []byte {
	table := make([]byte, basicPlane)
	for r := range table {
		table[r] = byte(lookUpClass(rune(r)))
	}
	return table
}

func lookUpClass(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.N, r):
		return digit
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.Is(unicode.L, r):
		return letter
	case unicode.Is(unicode.M, r):
		return mark
	}
	return sign
}
