package provider

import (
	"hash/maphash"
	"strings"
)

// Hard are tokenizers unlike those of any model, by name. Sent text does not show how they count
// text that was never sent. So the program's reports need not be exact; only nothing may ever cost
// more.
var Hard = map[string]Tokenizer{
	"long words":             LongWords,
	"prose five, code three": ByLine,
}

// LongWords counts up to ten characters between spaces as a token, with the spaces before them, and
// two non-ASCII ones.
func LongWords(text string, yield func(token uint64)) {
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && isSpace(text[i+n]) {
			n++
		}
		switch {
		case i+n == len(text):
		case text[i+n] >= 0x80:
			n += run(text[i+n:], 2, func(c byte) bool { return c >= 0x80 })
		default:
			n += run(text[i+n:], 10, func(c byte) bool { return !isSpace(c) && c < 0x80 })
		}
		yield(maphash.String(seed, text[i:i+n]))
		i += n
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// ByLine counts five characters per token in a line of prose. It counts three in a line of code,
// which has many signs.
func ByLine(text string, yield func(token uint64)) {
	for line := range strings.Lines(text) {
		signs := 0
		for i := range len(line) {
			if strings.IndexByte("{}();=<>[]", line[i]) >= 0 {
				signs++
			}
		}
		size := 5
		if 12*signs > len(line) {
			size = 3
		}
		chunks(size)(line, yield)
	}
}
