package prune

import (
	"slices"
	"strings"
	"testing"
)

func termsIn(s string) (out []string) {
	sp := splitter{}
	sp.emit = func(_ uint64, start, end int, _ bool) { out = append(out, s[start:end]) }
	sp.split(s, 0, len(s))
	return out
}

func TestWordsAreSplitWhereIdentifiersJoin(t *testing.T) {
	for in, want := range map[string]string{
		"parseYAMLFile":  "parse YAML File parseYAMLFile",
		"snake_case_id":  "snake case id snake_case_id",
		"sha256sum":      "sha 256 sum sha256sum",
		"a/b.c-d":        "a b c d",
		"plain words":    "plain words",
		"__init__":       "init",
		"HTTPServer":     "HTTP Server HTTPServer",
		"l’échéance":     "l échéance",
		"漢字仮":            "漢字 字仮",
		"“quoted” — x":   "quoted x",
		"":               "",
		"\xff\xfea":      "\xff\xfea",
		"blk_-123 v1.20": "blk 123 v 1 v1 20",
	} {
		if got := strings.Join(termsIn(in), " "); got != want {
			t.Errorf("terms of %q = %q, want %q", in, got, want)
		}
	}
}

func TestFormsOfAWordAreOneTerm(t *testing.T) {
	hash := func(s string) (h uint64) {
		sp := splitter{emit: func(x uint64, _, _ int, _ bool) { h = x }}
		sp.split(s, 0, len(s))
		return h
	}
	for _, same := range [][]string{{"parse", "parsing", "parsed", "Parses"}, {"échec", "echec", "ECHEC"}, {"query", "queries"}, {"stop", "stopped", "stopping"}} {
		for _, w := range same[1:] {
			if hash(w) != hash(same[0]) {
				t.Errorf("%q and %q are different terms", w, same[0])
			}
		}
	}
	if hash("glass") == hash("glas") {
		t.Error("a double s is cut")
	}
}

func TestGoalLeavesEmptyWordsOut(t *testing.T) {
	for in, want := range map[string][]string{
		"Fix the parser of config files": {"parser", "config", "file"},
		"pourquoi la compilation échoue": {"pourquoi", "compilation", "échou"},
		"the and of":                     {"the", "and", "of"},
		"getUserName":                    {"get", "user", "name", "getusername"},
		"":                               nil,
	} {
		var got []string
		for _, term := range newGoal(Request{Goal: in, Source: Code}).terms {
			got = append(got, term.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("terms of goal %q = %q, want %q", in, got, want)
		}
	}
	if g := newGoal(Request{Goal: strings.Repeat("word1 word2x ", 1<<20), Source: Docs}); len(g.terms) > maxGoalTerms {
		t.Errorf("a huge goal has %d terms", len(g.terms))
	}
	if g := newGoal(Request{Goal: "Why did the build fail?", Source: Logs}); !g.asksWhy || g.own != 0 {
		t.Errorf("asksWhy = %v, own = %d", g.asksWhy, g.own)
	}
}

func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		word, term string
		want       float32
	}{
		{"config", "configuration", prefixWeight},
		{"serializer", "serializ", prefixWeight},
		{"serialisa", "serialize", stemWeight},
		{"connector", "connection", stemWeight},
		{"comment", "common", 0},
		{"content", "context", 0},
		{"parameter", "parametr", stemWeight},
	} {
		if got := likeness([]byte(c.word), c.term); got != c.want {
			t.Errorf("likeness(%q, %q) = %v, want %v", c.word, c.term, got, c.want)
		}
	}
}
