package prune

import (
	"fmt"
	"strings"
	"testing"
)

// shownLines are lines as a tool shows them, numbered from a start.
func shownLines(form string, from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, from+i, fmt.Sprintf("value_%d := compute(%d)", from+i, i))
	}
	return b.String()
}

func TestLinesAreKnownByTheNumbersTheTextShows(t *testing.T) {
	for name, c := range map[string]struct {
		text         string
		line, number int // of a line in the middle
	}{
		"Claude Code from 101 on":  {shownLines("%6d→%s\n", 101, 60), 27, 127},
		"with tabs":                {shownLines("%6d\t%s\n", 101, 60), 27, 127},
		"opencode's header":        {"<path>/a/b.go</path>\n<type>file</type>\n<content>\n" + shownLines("%d: %s\n", 1, 60) + "\n(End of file - total 60 lines)\n</content>", 30, 27},
		"opencode as it was":       {"<file>\n" + shownLines("%05d| %s\n", 11, 60) + "\n(End of file - total 70 lines)\n</file>", 28, 37},
		"hits of a search":         {"3:func a\n17:func b\n99:func c\n120:func d\n", 3, 3},
		"data from 0 on":           {shownLines("%d: %s\n", 0, 60), 27, 27},
		"Claude Code with tabs":    {shownLines("%d\t%s\n", 101, 60), 27, 127},
		"a table with ids":         {shownLines("%d\t%s\n", 0, 60), 27, 27},
		"a table with a head":      {"id\tvalue\n" + shownLines("%d\t%s\n", 101, 60), 27, 27},
		"with a reminder behind":   {shownLines("%6d→%s\n", 101, 60) + "\n<system-reminder>\nbe careful\n</system-reminder>\n", 27, 127},
		"not numbered":             {shownLines("x%d %s\n", 101, 60), 27, 27},
		"numbered as they count":   {shownLines("%6d\t%s\n", 1, 60), 27, 27},
		"two files, the same ones": {shownLines("%6d\t%s\n", 5, 30) + shownLines("%6d\t%s\n", 1, 30), 27, 27},
	} {
		lines := IndexLines(c.text)
		v := ViewOf(lines)
		shown, ok := v.Shown(Span{c.line, c.line})
		if want := (Span{c.number, c.number}); !ok || shown != want {
			t.Errorf("%s: line %d is shown as %v %v, want %v", name, c.line, shown, ok, want)
		}
		if got := v.Place(shown); got.Start > c.line || got.End < c.line {
			t.Errorf("%s: %v is placed at %v, want around line %d", name, shown, got, c.line)
		}
		if all := v.Place(Span{1, 1 << 50}); lines.Range(all.Start, all.End) != c.text {
			t.Errorf("%s: all lines are %v", name, all)
		}
	}
}

// The numbers in a block's marker recover the whole block.
func TestEveryBlockIsWithinThePlaceOfItsNumbers(t *testing.T) {
	text := "header one\nheader two\n" + shownLines("%6d→%s\n", 101, 20) + "between\n" + shownLines("%6d→%s\n", 130, 20) + "behind\n"
	lines := IndexLines(text)
	v := ViewOf(lines)
	if v.Last() != 149 {
		t.Fatalf("view %+v", v)
	}
	for start := 1; start <= lines.Len(); start++ {
		for end := start; end <= lines.Len(); end++ {
			shown, ok := v.Shown(Span{start, end})
			if got := v.Place(shown); ok && (got.Start > start || got.End < end) {
				t.Fatalf("lines %d-%d are shown as %v, which is %v", start, end, shown, got)
			}
		}
	}
	if shown, ok := v.Shown(Span{1, 2}); ok {
		t.Errorf("lines without a number are shown as %v", shown)
	}
	if got := v.Place(Span{3, 9}); got != (Span{3, 9}) {
		t.Errorf("numbers that the text does not show are %v", got)
	}
}
