// Package bpe counts the tokens of a text as o200k_base has them (a byte pair encoding), exactly, without reading a vocabulary at start.
//
// A text is cut into pieces (split.go): a word with what stands before it, up to three digits, a run of signs, a run of spaces. A piece
// that is in the vocabulary is one token. Any other begins as its bytes, of which the two neighbours whose union has the lowest rank are
// joined until no union is in the vocabulary (merge.go). The vocabulary is a hash table in the program's read-only data (table.go,
// o200k.bin), and so is the class of each character (class.go, class.bin); test/eval/tokens writes both files.
package bpe
