package main

import (
	"strings"
	"testing"
)

func TestLookFindsWhatIsHardToRead(t *testing.T) {
	long := strings.Repeat("word ", 31)
	cases := map[string]struct {
		source string
		want   []kind
	}{
		"plain English":                {"// F returns the sum.\nfunc F() {}", nil},
		"a line that is too wide":      {"// F " + strings.Repeat("x", 110), []kind{longLine}},
		"code that is too wide":        {"var x = \"" + strings.Repeat("x", 110) + "\"", nil},
		"a trailing comment too wide":  {"var x = \"" + strings.Repeat("x", 100) + "\" // the sum of all", []kind{longLine}},
		"a sentence over two lines":    {"// " + long[:80] + "\n// " + long[80:], []kind{longSentence}},
		"two sentences":                {"// " + long[:80] + ". \n// " + long[80:], nil},
		"a word of the old style":      {"// What is read, whoever asks.", []kind{oldWord, oldWord}},
		"the same word in a string":    {`var x = "nobody"`, nil},
		"part of another word":         {"// It understands manewvers.", nil},
		"an example":                   {"//\tnobody " + strings.Repeat("x", 110), nil},
		"comments of two declarations": {"var a int // " + long[:80] + "\nvar b int // " + long[80:], nil},
	}
	for name, c := range cases {
		var got []kind
		for _, f := range look("x.go", []byte("package x\n\n"+c.source+"\n")) {
			got = append(got, f.kind)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

func TestCountsMayOnlyFall(t *testing.T) {
	limits := "sentences over 30 words: 7\n"
	if got := limitOf(limits, longSentence); got != 7 {
		t.Errorf("limit is %d, want 7", got)
	}
	if got := limitOf(limits, oldWord); got != 0 {
		t.Errorf("a kind without a limit: %d, want 0", got)
	}
}
