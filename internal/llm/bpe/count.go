package bpe

import (
	"strings"
	"unicode/utf8"
)

// Count returns the number of tokens of the text. A special token such as <|endoftext|> counts as
// ordinary text. An invalid UTF-8 byte counts as U+FFFD. Count allocates only if the text has such
// a byte. A piece longer than 4 KiB, which people never write, is counted 4 KiB at a time. It may
// come to a few tokens more, but it keeps the time linear.
func Count(text string) int {
	if !utf8.ValidString(text) {
		text = repaired(text)
	}
	count := 0
	for i := 0; i < len(text); {
		end := pieceEnd(text, i)
		count += tokensOf(text, i, end)
		i = end
	}
	return count
}

// repaired replaces each invalid UTF-8 byte by U+FFFD; strings.ToValidUTF8 would replace each run
// of them.
func repaired(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}

// tokensOf counts the tokens of the piece text[from:to].
func tokensOf(text string, from, to int) int {
	switch n := to - from; {
	case n == 1:
		return 1 // every byte is a token
	case n <= longestToken && rankOf(text, from, to) != absent:
		return 1
	case n == 2:
		return 2
	case n <= fewParts:
		return mergeFew(text, from, to)
	}
	return mergeMany(text, from, to)
}
