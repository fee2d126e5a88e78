package chat

import (
	"os"
	"testing"

	"golang.org/x/tools/txtar"
)

// errorTexts reads a file of testdata/errors: labelled texts.
func errorTexts(tb testing.TB, name string) []txtar.File {
	tb.Helper()
	raw, err := os.ReadFile("testdata/errors/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	seen := map[string]bool{}
	files := txtar.Parse(raw).Files
	for _, f := range files {
		if seen[f.Name] || len(f.Data) == 0 {
			tb.Errorf("%s: %q is there twice or empty", name, f.Name)
		}
		seen[f.Name] = true
	}
	return files
}

// The corpus has the output of common tools on failure, lookalikes, and failures that no line
// announces with an error's words.
func TestErrorsAreToldFromTextsThatLookLikeThem(t *testing.T) {
	for _, c := range []struct {
		file string
		want bool
		min  int
	}{
		{"kept.txtar", true, 240},
		{"lookalike.txtar", false, 240},
		{"unannounced.txtar", false, 20},
	} {
		texts := errorTexts(t, c.file)
		if len(texts) < c.min {
			t.Errorf("%s has %d texts, want at least %d", c.file, len(texts), c.min)
		}
		wrong := 0
		for _, f := range texts {
			if looksLikeError(string(f.Data)) != c.want {
				wrong++
				t.Errorf("%s: %s: looksLikeError = %v", c.file, f.Name, !c.want)
			}
		}
		t.Logf("%s: %d texts, %d judged wrongly", c.file, len(texts), wrong)
	}
}

// A result may have been cut anywhere. No remainder makes the check fail.
func TestCutTextsAreJudgedToo(t *testing.T) {
	for _, file := range []string{"kept.txtar", "lookalike.txtar", "unannounced.txtar"} {
		for _, f := range errorTexts(t, file) {
			for i := range f.Data {
				looksLikeError(string(f.Data[:i]))
				looksLikeError(string(f.Data[i:]))
			}
		}
	}
}

func BenchmarkLooksLikeError(b *testing.B) {
	for _, file := range []string{"kept.txtar", "lookalike.txtar"} {
		texts := errorTexts(b, file)
		size := 0
		for _, f := range texts {
			size += len(f.Data)
		}
		b.Run(file, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, f := range texts {
					looksLikeError(string(f.Data))
				}
			}
		})
	}
}
