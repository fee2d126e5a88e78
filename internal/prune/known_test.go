package prune

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A text has the same terms with and without the cache.
func TestKnownWordsChangeNoTerm(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pieces := []string{
		"parse", "parseLine", "HTTPServer", "snake_case_name", "x", "eight888", "ninechars", "a_", "__init__", "2026", "123456", "0x1f",
		"é", "naïve", "日本語", "“quoted”", "\x1b[31m", "\xff", " ", " ", " ", "\t", ".", "(", "-", "\x00",
		strings.Repeat("long", 11), strings.Repeat("Ab", 20), strings.Repeat("w", 39), strings.Repeat("w", 40), strings.Repeat("w", 41),
	}
	for range 300 {
		var lines [40]string
		for i := range lines {
			var b strings.Builder
			for range rng.IntN(12) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			lines[i] = b.String()
		}
		src := strings.Join(lines[:], "\n")
		plain, known := splitLines(src, nil), splitLines(src, newKnownWords(len(src)))
		if !slices.Equal(plain.terms, known.terms) || !slices.Equal(plain.vocab.terms, known.vocab.terms) {
			t.Fatalf("words that are remembered change the terms of %q", src)
		}
	}
}

// splitLines finds the terms of a text's lines, blank or not.
func splitLines(src string, known *knownWords) *text {
	t := &text{src: src, vocab: newVocab(len(src))}
	s := splitter{into: t, known: known}
	at := 0
	for line := range strings.SplitSeq(src, "\n") {
		s.split(src, at, at+len(line))
		t.line = append(t.line, 0)
		at += len(line) + 1
	}
	return t
}

// Words beyond the cache's limit are split each time.
func TestKnownWordsAreBounded(t *testing.T) {
	k := newKnownWords(0)
	var b strings.Builder
	for i := range 3 * k.limit {
		b.WriteString("w" + strings.Repeat("o", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26)) + " ")
	}
	got := splitLines(b.String(), k)
	if len(k.words) != k.limit {
		t.Errorf("%d words are remembered, want %d", len(k.words), k.limit)
	}
	if want := splitLines(b.String(), nil); !slices.Equal(got.terms, want.terms) {
		t.Error("words that find no room have other terms")
	}
}

func TestNotPlainFindsWhatEndsAWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		x, want := rng.Uint64(), uint64(0)
		for i := range wordBytes {
			if class := classes[byte(x>>(8*i))]; class == sepClass || class == wideClass {
				want |= 0x80 << (8 * i)
			}
		}
		if got := notPlain(x); got != want {
			t.Fatalf("notPlain(%x) = %x, want %x", x, got, want)
		}
	}
}
