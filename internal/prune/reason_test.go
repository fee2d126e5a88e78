package prune

import (
	"strings"
	"testing"
)

func TestReasons(t *testing.T) {
	function := func(name string) string { return "func " + name + "() {\n\topen()\n\tcount()\n\tclose()\n}\n" }
	for _, c := range []struct {
		name, text string
		source     Source
		first, end int // lines cut, from 1
		want       string
	}{
		{"blank lines", "a\n\n\n\nb\n", Code, 2, 4, "lignes vides"},
		{"one message again and again", "step 1 done\nstep 2 done\nstep 3 done\nstep 4 done\n", Logs, 1, 4, "répétitions (×4)"},
		{"imports", "import a\nimport b\n", Code, 1, 2, "imports"},
		{"comments", "x = 1\n# one\n# two\n", Code, 2, 3, "commentaires"},
		{"what is defined there", function("parseYAML") + function("loadConfig"), Code, 1, 10, "hors focus: parseYAML, loadConfig"},
		{"what it is the body of", function("parseYAML"), Code, 2, 4, "hors focus: corps de parseYAML"},
		{"a heading", "# Top\n\n## Proxy settings\n\ntext\n", Docs, 3, 5, "hors focus: Proxy settings"},
		{"the rest of a section", "# Top\n\nsome text\nmore text\n", Docs, 3, 4, "hors focus: suite de « Top »"},
		{"words of a log", "fetching archive\nfetching archive again\n", Logs, 1, 2, "hors focus: fetching, archive"},
		{"nothing to name", "1 2 3\n4 5 6\n", Logs, 1, 2, "bloc sans lien avec l’objectif"},
		{"our brackets are left out", "# A ⟦b⟧ c\n\ntext\n", Docs, 1, 3, "hors focus: A b c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, _ := readText(Request{Text: c.text, Source: c.source}, IndexLines(c.text))
			s := tx.shape()
			k := newKeep(tx.lines.Len())
			for line := range tx.lines.Len() {
				if line+1 < c.first || line+1 > c.end {
					k.add(line)
				}
			}
			cuts := tx.cuts(s, k)
			if len(cuts) != 1 || cuts[0].Start != c.first || cuts[0].End != c.end {
				t.Fatalf("cuts = %+v", cuts)
			}
			if cuts[0].Reason != c.want {
				t.Errorf("reason = %q, want %q", cuts[0].Reason, c.want)
			}
		})
	}
}

func TestClipBoundsAndCleans(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\x00c":              "a b c",
		"\xff broken":            "broken",
		strings.Repeat("é", 100): strings.Repeat("é", nameRunes) + "…",
		"⟧⟦":                     "",
	} {
		if got := clip(in); got != want {
			t.Errorf("clip(%q) = %q, want %q", in, got, want)
		}
	}
}
