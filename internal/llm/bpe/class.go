package bpe

import (
	_ "embed"
	"unicode"
)

// class is what the pattern that cuts a text into pieces knows of a character.
type class uint8

const (
	sign    class = iota // none of the following
	upper                // Lu, Lt
	lower                // Ll
	letter               // Lm, Lo: goes with upper and with lower case
	mark                 // M: goes with upper and with lower case, and is no letter to those who ask for letters
	digit                // N
	space                // \s, but for the ends of lines
	newline              // \r, \n
	wide                 // no character but the first byte of one that has several
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

// classes has a byte for each character of the basic plane, so that no text has to search Unicode's tables character by character.
//
//go:embed class.bin
var classes string

// basicPlane is how many characters have their class in the table.
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

// PackClasses makes class.bin.
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
