package pruner

import (
	"strconv"
	"unicode/utf8"

	"secateur/internal/prune"
)

// memberTooMuch is the member of an error's data with the largest allowed size of a response.
const memberTooMuch = "max_answer_bytes"

// encodedByte is the size of a byte of text in a response: quoted as a value of the object, and
// quoted again in the object's text form. A byte of a non-ASCII character stays as it is.
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

// encodedSize returns the size of a text in a response. It stops counting above a limit.
func encodedSize(text string, limit int) int {
	if len(text) > limit {
		return len(text)
	}
	n := 0
	for i := range len(text) {
		n += int(encodedByte[text[i]])
	}
	if !utf8.ValidString(text) {
		n *= 3 // an invalid byte becomes a three-byte character, a lone surrogate an escape
	}
	return n
}

// encodedLines returns an upper bound for the size of lines in a response.
func encodedLines(lines prune.Lines, span prune.Span, numbered bool, limit int) int {
	// A line ending that the last line may lack.
	n := encodedSize(lines.Range(span.Start, span.End), limit) + 5
	if numbered {
		n += 2 * (span.End - span.Start + 1) * len(strconv.Itoa(lines.Len())+"│ ")
	}
	return n
}
