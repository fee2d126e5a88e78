package provider

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file of a few merges: "Ġ" is a space, "Ċ" a line end.
const fewMerges = `{"pre_tokenizer": SPLIT, "model": {"type": "BPE",
	"vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "Ċ": 4, "ab": 5, "Ġab": 6, "bc": 7, "1": 8},
	"merges": ["b c", ["a", "b"], "Ġ ab"]}}`

func vocabularyFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestVocabularyMergesTheLowestPairFirst(t *testing.T) {
	for text, want := range map[string][]uint64{
		"ab":      {5},
		"abc":     {0, 7}, // b and c come before a and b
		"ab ab\n": {5, 6, 4},
		"":        nil,
	} {
		split, err := Vocabulary(vocabularyFile(t, strings.Replace(fewMerges, "SPLIT", `{"type": "ByteLevel"}`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for range 2 { // cached pieces give the same
			got = nil
			split(text, func(id uint64) { got = append(got, id) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestVocabularySplitsByAllPatterns(t *testing.T) {
	sequence := `{"type": "Sequence", "pretokenizers": [
		{"type": "Split", "pattern": {"Regex": "b"}, "behavior": "Isolated"}, {"type": "ByteLevel", "use_regex": false}]}`
	split, err := Vocabulary(vocabularyFile(t, strings.Replace(fewMerges, "SPLIT", sequence, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	split("abc", func(id uint64) { got = append(got, id) })
	if want := []uint64{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestVocabularyRefusesWhatItCannotRead(t *testing.T) {
	for text, want := range map[string]string{
		"{":                              "unexpected end",
		`{"model": {"type": "Unigram"}}`: `a model of type "Unigram"`,
		`{"model": {"type": "BPE"}, "pre_tokenizer": {"type": "Metaspace"}}`: `split by "Metaspace"`,
	} {
		if _, err := Vocabulary(vocabularyFile(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
