package rawjson

import "strings"

// Where the processor can, long strings are decoded in windows of a block. Lines are short: a search for the next escape and a
// copy up to it, with a call each, take longer than what they do.
const (
	// decodedBlock is how much is decoded at a time. It stays in the processor's nearest cache until it is copied.
	decodedBlock = 2 << 10
	// worthUnescaping is how long a string must be for the block, which has to be cleared.
	worthUnescaping = decodedBlock / 4
	// unescapeAhead is how many bytes, from those on that are decoded next, unescape may read, and write.
	unescapeAhead = 66
)

// writeUnescaped writes a text with its escapes decoded, but for the last bytes, which it returns.
func writeUnescaped(b *strings.Builder, text []byte) (rest []byte) {
	var block [decodedBlock]byte
	for len(text) >= unescapeAhead {
		wrote, read := unescape(block[:], text)
		b.Write(block[:wrote])
		text = text[read:]
		for len(text) > 0 && text[0] == '\\' {
			text = text[writeEscaped(b, text):]
		}
	}
	return text
}
