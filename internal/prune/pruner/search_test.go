package pruner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/pruner"
)

type searchAnswer struct {
	Matches []struct {
		Line, Start, End int
		Text             string
		Clipped          bool
	}
	Metadata struct {
		Truncated  bool
		TotalLines int `json:"total_lines"`
	}
	Warnings []string
}

// hits returns the matches as "line:text", joined.
func (a searchAnswer) hits() string {
	var all []string
	for _, m := range a.Matches {
		all = append(all, fmt.Sprintf("%d:%s", m.Line, m.Text))
	}
	return strings.Join(all, "|")
}

func search(tb testing.TB, s *pruner.Server, text string, arguments map[string]any) (a searchAnswer) {
	tb.Helper()
	arguments["prune_id"] = keep(tb, s, text)
	args, err := json.Marshal(arguments)
	if err != nil {
		tb.Fatal(err)
	}
	result(tb, call(tb, s, "search_text", string(args)), &a)
	runes := []rune(text)
	for _, m := range a.Matches {
		if got := string(runes[m.Start:m.End]); got != m.Text {
			tb.Errorf("characters %d to %d of the text are %.60q, the match says %.60q", m.Start, m.End, got, m.Text)
		}
	}
	return a
}

func TestSearchText(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		name, text string
		arguments  map[string]any
		want       string
	}{
		{"literal", "a.c\nabc\nxa.cx\n", map[string]any{"pattern": "a.c"}, "1:a.c|3:xa.cx"},
		{"a regular expression", "a.c\nabc\nac\n", map[string]any{"pattern": "a.c", "regex": true}, "1:a.c|2:abc"},
		{"case counts", "Error\nerror\n", map[string]any{"pattern": "error"}, "2:error"},
		{"unless it does not", "Error\nÉRROR\nerror", map[string]any{"pattern": "error", "ignore_case": true}, "1:Error|3:error"},
		{"^ and $ are a line's", "foo\nxfoo\nfoox\r\nfoo\r\n", map[string]any{"pattern": "^foo$", "regex": true}, "1:foo|4:foo"},
		{"an anchored end before CRLF", "a\r\nb\r\n", map[string]any{"pattern": "a$", "regex": true}, "1:a"},
		{"one entry for a line", "aaa\n", map[string]any{"pattern": "a"}, "1:aaa"},
		{"nothing", "aaa\n", map[string]any{"pattern": "b"}, ""},
		{"an empty match is a match", "a\n\nb", map[string]any{"pattern": "^$", "regex": true}, "2:"},
		{"the empty text", "", map[string]any{"pattern": ".*", "regex": true}, ""},
		{"characters of any width", "😀 é\n日本 é\n", map[string]any{"pattern": "é"}, "1:😀 é|2:日本 é"},
		{"no line break is matched", "a\nb\n", map[string]any{"pattern": `a\nb`, "regex": true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := search(t, s, c.text, c.arguments); got.hits() != c.want || got.Metadata.Truncated || len(got.Warnings) != 0 {
				t.Errorf("%v in %q: %q (%+v), want %q", c.arguments, c.text, got.hits(), got.Metadata, c.want)
			}
		})
	}
}

func TestSearchInALongLine(t *testing.T) {
	s := newServer(t, nil)
	filler := strings.Repeat("é-", 25_000)
	text := "short\n" + filler + "needle one" + filler + "needle two, needle three" + filler + "\nneedle four"
	for _, arguments := range []map[string]any{
		{"pattern": "needle"},
		{"pattern": `\bneedle\b`, "regex": true},
		{"pattern": `n[a-f]{2}dle`, "regex": true},
	} {
		a := search(t, s, text, arguments)
		if len(a.Matches) != 3 {
			t.Fatalf("%v: %d matches, want one for each place and one for the short line", arguments, len(a.Matches))
		}
		for i, want := range []string{"needle one", "needle two, needle three", "needle four"} {
			m := a.Matches[i]
			if !strings.Contains(m.Text, want) || len(m.Text) > 1000 || m.Clipped != (i < 2) {
				t.Errorf("%v: match %d is %d bytes, clipped %t: %.80q, want %q in it", arguments, i, len(m.Text), m.Clipped, m.Text, want)
			}
		}
	}
	whole := search(t, s, text, map[string]any{"pattern": "^.*needle.*$", "regex": true})
	if len(whole.Matches) != 2 || whole.Matches[0].Line != 2 || whole.Matches[1].Line != 3 {
		t.Errorf("a match as long as its line: %d matches", len(whole.Matches))
	}
}

func TestSearchIsBounded(t *testing.T) {
	s := newServer(t, nil)
	a := search(t, s, strings.Repeat("x\n", 1000), map[string]any{"pattern": "x"})
	if len(a.Matches) != 100 || !a.Metadata.Truncated {
		t.Errorf("%d matches, truncated %t, want 100 of them", len(a.Matches), a.Metadata.Truncated)
	}
	a = search(t, s, strings.Repeat("x\n", 1000), map[string]any{"pattern": "x", "max_matches": 1000})
	if len(a.Matches) != 1000 || a.Metadata.Truncated {
		t.Errorf("%d matches, truncated %t, want all", len(a.Matches), a.Metadata.Truncated)
	}
	a = search(t, s, strings.Repeat(strings.Repeat("x", 400)+"\n", 1000), map[string]any{"pattern": "x", "max_matches": 1000})
	if len(a.Matches) != 250 || !a.Metadata.Truncated {
		t.Errorf("%d matches of 400 bytes, truncated %t, want 250", len(a.Matches), a.Metadata.Truncated)
	}
}

func TestSearchEndsInTime(t *testing.T) {
	now := noon
	s := newServer(t, func(o *pruner.Options) { o.Now = func() time.Time { now = now.Add(time.Second); return now } })
	a := search(t, s, strings.Repeat("no\n", 10_000)+"yes", map[string]any{"pattern": "yes"})
	if len(a.Matches) != 0 || !a.Metadata.Truncated || len(a.Warnings) != 1 || a.Warnings[0] != "timeout" {
		t.Errorf("%+v", a)
	}
}

// Searching a long line in pieces finds the same matches as searching the whole line.
func TestSearchByPiecesLosesNothing(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) { o.MaxInputChars = 1 << 24 })
	line := []byte(strings.Repeat("-", 500_000))
	var places []int
	for at := 100; at < len(line); at += 16_001 {
		copy(line[at:], " needle ")
		places = append(places, at+1)
	}
	copy(line[64<<10-1<<10-1:], "xneedle ") // looks like the word where the second piece starts
	// The cost of the optional tail makes the line too expensive to search at once.
	a := search(t, s, string(line), map[string]any{"pattern": `\bneedle\b(abcdefghijk){0,150}`, "regex": true})
	if len(a.Matches) != len(places) {
		t.Fatalf("%d matches, want %d", len(a.Matches), len(places))
	}
	for i, m := range a.Matches {
		if at := m.Start + strings.Index(m.Text, "needle"); at != places[i] {
			t.Errorf("match %d at %d, want %d", i, at, places[i])
		}
	}
}
