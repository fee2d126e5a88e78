package bpe

import (
	"strings"
	"unicode/utf8"
)

// Count is the number of tokens of the text. What looks like a special token, <|endoftext|>, is text like any other. A byte that is not
// UTF-8 counts as U+FFFD does. Count allocates nothing, unless there is such a byte. A piece longer than 4 KiB, which is nothing that
// people write, is counted 4 KiB at a time and may come to a few tokens more: the time that a text takes grows with its length only.
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

// repaired has U+FFFD for each byte that is not UTF-8, and not for each run of them, as strings.ToValidUTF8 would.
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
