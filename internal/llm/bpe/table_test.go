package bpe

import (
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

func TestVocabularyIsTheLibrarys(t *testing.T) {
	library := codec.NewO200kBase()
	var tokens []string
	for {
		token, err := library.Decode([]uint{uint(len(tokens))})
		if err != nil {
			break
		}
		tokens = append(tokens, token)
	}
	for rank, token := range tokens {
		if len(token) == 2 && rankOfPair(token, 0) != uint32(rank) {
			t.Fatalf("rank of the pair %q = %d, want %d", token, rankOfPair(token, 0), rank)
		}
		if got := rankOf(token+"more", 0, len(token)); got != uint32(rank) {
			t.Fatalf("rank of %q = %d, want %d", token, got, rank)
		}
	}
	table, err := PackVocabulary(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if string(table) != vocabulary {
		t.Error("o200k.bin is old: go run . -vocabulary in test/eval/tokens")
	}
}

func TestHashIsTheSameAtTheEndOfAText(t *testing.T) {
	const text = "0123456789abcdefghijklmnopqrstuvwxyz"
	for n := 1; n <= 26; n++ {
		if hashOf(text, 3, 3+n) != hashOf(text[:3+n], 3, 3+n) || hashOf(text, 3, 3+n) != hashOf(text[3:3+n], 0, n) {
			t.Errorf("the hash of %d bytes depends on what is around them", n)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	for name, tokens := range map[string][]string{
		"two of one hash": {"a", "b", "a"},
		"an empty token":  {"a", ""},
		"too long":        {string(make([]byte, longestToken+1))},
		"too many":        make([]string, 1<<rankBits),
	} {
		if _, err := PackVocabulary(tokens); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestClassesAreUnicodes(t *testing.T) {
	if string(PackClasses()) != classes {
		t.Error("class.bin is old, Go's Unicode is newer: go run . -vocabulary in test/eval/tokens")
	}
	for b := range byte(0x80) {
		if got, want := byteClass[b], lookUpClass(rune(b)); got != want {
			t.Errorf("class of %q = %d, want %d", b, got, want)
		}
	}
	for r := rune(basicPlane - 0x100); r < 0x20000; r++ { // the emoji are in this range
		if got, want := classOf(r), lookUpClass(r); got != want {
			t.Fatalf("class of %U = %d, want %d", r, got, want)
		}
	}
}
