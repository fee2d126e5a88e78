package bpe

import (
	"slices"
	"testing"
)

// The number of tokens seldom shows where a text was split, so the splits have their own cases.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
	}{
		{"a word takes what stands before it", []string{"hello", " world", "(x", ")."}},
		{"small letters end a word", []string{"parse", "HTTPRequest", "URLs", " ABC"}},
		{"after capitals alone a letter without case ends it", []string{"Aª", "B", " 中", "Z"}},
		{"letters without case go on with small ones", []string{"中A中bc", "D"}},
		{"a mark is in the word", []string{"e\u0301te", " \u0301", "A"}},
		{"a mark before capitals is by itself", []string{"\u0301", "ABC"}},
		{"contractions", []string{"it's", " we'LL", " THEY'Re", " I'd", " x'm", " o'ſ"}},
		{"no contractions", []string{"a", "'x", " b", "'lx", " c", "'rs", " d", "'"}},
		{"three digits", []string{"123", "456", "7", "a", " ", "12²", "Ⅷ"}},
		{"signs with ends of lines and slashes", []string{"{}\r\n//\n", "  ", " ⟦", "PRUNÉ", ":", " ", "12", "⟧…"}},
		{"the last space goes with the word", []string{"a", "   ", " b", "\t", "\tc", "  ", " ="}},
		{"before a digit it does not", []string{"a", "  ", " ", "1"}},
		{"no space is left at the end", []string{"a", "   "}},
		{"spaces end with the line", []string{"a", "  \n\n", "  ", " b", "\r\n", "\tc"}},
		{"with the last of the lines", []string{"a", "\n  \r\n\t\n", " b"}},
		{"other spaces", []string{"a", "\u00a0", "\u3000b", "\u2028\v\u0085"}},
		{"delete is a sign", []string{"(\x7f)\x7f", "a", "\x7fb", " \x7f"}},
	} {
		text := ""
		for _, p := range c.pieces {
			text += p
		}
		var got []string
		for i := 0; i < len(text); {
			end := pieceEnd(text, i)
			got = append(got, text[i:end])
			i = end
		}
		if !slices.Equal(got, c.pieces) {
			t.Errorf("%s: pieces of %q = %q, want %q", c.name, text, got, c.pieces)
		}
	}
}
