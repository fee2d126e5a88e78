// Package bpe counts the tokens of a text exactly, as OpenAI's o200k_base does (byte pair
// encoding). It reads no vocabulary at start.
//
// A text is split into pieces (split.go): a word with the character before it, up to three digits,
// a run of signs, a run of spaces. A piece in the vocabulary is one token. Any other piece starts
// as single bytes. The two neighbours whose union has the lowest rank are merged until no union is
// in the vocabulary (merge.go). The vocabulary is a hash table in the program's read-only data
// (table.go, o200k.bin). The class of each character is stored there too (class.go, class.bin).
// test/eval/tokens writes both files.
package bpe
