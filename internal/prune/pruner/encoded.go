package pruner

import (
	"strconv"
	"unicode/utf8"

	"secateur/internal/prune"
)

// memberTooMuch is the member of an error's data that says how large an answer may be, where one would be larger.
const memberTooMuch = "max_answer_bytes"

// encodedByte is how many bytes of an answer a byte of a text takes: quoted as a value of the object, and quoted once
// more in the object's own text. A byte of a character that is not ASCII is itself.
var encodedByte = func() (size [256]uint8) {
	for c := range size {
		switch {
		case c == '"' || c == '\\':
			size[c] = 2 + 4
		case c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t':
			size[c] = 2 + 3
		case c < ' ':
			size[c] = 6 + 7
		default:
			size[c] = 1 + 1
		}
	}
	return size
}()

// encodedSize is how many bytes of an answer a text takes; it stops counting above a limit.
func encodedSize(text string, limit int) int {
	if len(text) > limit {
		return len(text)
	}
	n := 0
	for i := range len(text) {
		n += int(encodedByte[text[i]])
	}
	if !utf8.ValidString(text) {
		n *= 3 // what is no character becomes one of three bytes, a lone surrogate an escape
	}
	return n
}

// encodedLines is how many bytes of an answer lines take, at most.
func encodedLines(lines prune.Lines, span prune.Span, numbered bool, limit int) int {
	n := encodedSize(lines.Range(span.Start, span.End), limit) + 5 // a line ending that the last line may lack
	if numbered {
		n += 2 * (span.End - span.Start + 1) * len(strconv.Itoa(lines.Len())+"│ ")
	}
	return n
}
