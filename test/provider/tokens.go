package provider

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Tokenizer splits a text and yields a value for each token; equal tokens have equal values.
type Tokenizer func(text string, yield func(token uint64))

// Tokenizers are of different characters, by name.
var Tokenizers = map[string]Tokenizer{
	"word pieces":          Tokens,
	"o200k":                bpe(codec.NewO200kBase),
	"cl100k":               bpe(codec.NewCl100kBase),
	"three characters":     chunks(3),
	"four characters":      chunks(4),
	"words, signs, digits": Words,
}

// Names returns the names of the tokenizers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Tokenizers)) }

// bpe is the byte pair encoding of real models. Its vocabulary is read on first use.
func bpe(vocabulary func() *codec.Codec) Tokenizer {
	c := sync.OnceValue(vocabulary)
	return func(text string, yield func(uint64)) {
		ids, _, err := c().Encode(text)
		if err != nil {
			panic(err) // it knows every text
		}
		for _, id := range ids {
			yield(uint64(id))
		}
	}
}

// chunks ignores words: a fixed number of bytes is a token.
func chunks(size int) Tokenizer {
	return func(text string, yield func(uint64)) {
		for i := 0; i < len(text); i += size {
			yield(maphash.String(seed, text[i:min(i+size, len(text))]))
		}
	}
}

// Words counts every word as one token, however long, and every digit and sign as one.
func Words(text string, yield func(token uint64)) {
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && text[i+n] == ' ' {
			n++
		}
		if i+n < len(text) && isLetter(text[i+n]) {
			n += run(text[i+n:], len(text), isLetter)
		} else {
			n = max(n, 1)
		}
		yield(maphash.String(seed, text[i:i+n]))
		i += n
	}
}

// seed makes tokens comparable within a process.
var seed = maphash.MakeSeed()

// Tokens splits a text into pieces and yields a hash of each: up to six letters of a word with the
// space before it, up to three digits, two signs, or a line end with the next line's indent.
func Tokens(text string, yield func(token uint64)) {
	for i := 0; i < len(text); {
		end := i + pieceLength(text[i:])
		yield(maphash.String(seed, text[i:end]))
		i = end
	}
}

// Count returns how many tokens a text has.
func Count(text string) (n int) {
	Tokens(text, func(uint64) { n++ })
	return n
}

func pieceLength(s string) int {
	n := 0
	if s[0] == ' ' && len(s) > 1 && isLetter(s[1]) {
		n = 1
	}
	switch c := s[n]; {
	case isLetter(c):
		return n + run(s[n:], 6, isLetter)
	case c >= '0' && c <= '9':
		return run(s, 3, func(c byte) bool { return c >= '0' && c <= '9' })
	case c == '\n':
		return 1 + run(s[1:], 64, func(c byte) bool { return c == ' ' || c == '\t' })
	case c == ' ' || c == '\t':
		return run(s, 16, func(c byte) bool { return c == ' ' || c == '\t' })
	case c >= 0x80:
		return run(s, 2, func(c byte) bool { return c >= 0x80 })
	default:
		return run(s, 2, isSign)
	}
}

func run(s string, most int, is func(byte) bool) (n int) {
	for n < min(most, len(s)) && is(s[n]) {
		n++
	}
	return max(n, min(1, len(s)))
}

func isSign(c byte) bool { return c > ' ' && c < 0x80 && !isLetter(c) && (c < '0' || c > '9') }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
