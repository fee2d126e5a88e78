package prune

import (
	"fmt"
	"strings"
	"testing"
)

func unitsOf(text string) []unit {
	tx, _ := readText(Request{Text: text, Source: Docs}, IndexLines(text))
	return tx.shape().units
}

func TestUnitsOfDocuments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []unit
	}{
		{"a fence", "a\n```go\nx\n\ny\n```\nb\n", []unit{{1, 5}}},
		{"a longer fence holds a shorter one", "````\n```\nx\n```\n````\n", []unit{{0, 4}}},
		{"tildes do not close backticks", "```\n~~~\n```\n", []unit{{0, 2}}},
		{"a fence that is never closed reaches to the end", "a\n```\nx\n\ny\n", []unit{{1, 4}}},
		{"a table", "a\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nb\n", []unit{{2, 4}}},
		{"lines with bars and no rule are no table", "a | b\nc | d\n", nil},
		{"an html table", "<table>\n<tr>\n\n</table>\nb\n", []unit{{0, 3}}},
		{"an html table that is never closed is text", "<table>\n<tr>\n", nil},
		{"a table inside a fence is part of the fence", "```\n| a | b |\n|---|---|\n```\n", []unit{{0, 3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := unitsOf(c.text)
			if len(got) != len(c.want) {
				t.Fatalf("units = %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("units = %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	text := "# One\ntext\n\nTwo\n===\n\nThree\n---\n## Four\n```\n# not one\n```\n<h3>Five</h3>\n#nospace\n####### seven\n== Six\n"
	tx, _ := readText(Request{Text: text, Source: Docs}, IndexLines(text))
	tx.shape()
	var got []string
	for r, k := range tx.kind {
		if k&isHeading != 0 {
			got = append(got, tx.row(r))
		}
	}
	if want := "# One|Two|Three|## Four|<h3>Five</h3>|== Six"; strings.Join(got, "|") != want {
		t.Errorf("headings = %s, want %s", strings.Join(got, "|"), want)
	}
}

func TestTheSectionThatTheGoalNamesStays(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Guide\n\n")
	for _, name := range []string{"Install", "Proxy settings", "Colours", "Plugins", "Themes", "Signals", "History", "Fonts", "Mouse", "Panes", "Tabs", "Search", "Bell", "Keys"} {
		b.WriteString("## " + name + "\n\nIt is done in the usual way.\nMore words follow here, on " + strings.ToLower(name) + ".\nAnd then it ends.\n\n```sh\nrun --" + strings.ToLower(name[:3]) + "\n```\n\n")
	}
	text := b.String()
	for _, structure := range []Structure{All, Enclosing} {
		res := Plan(Request{Text: text, Goal: "how do I set a proxy", Source: Docs, MaxPruneRatio: .8, Structure: structure})
		for _, words := range []string{"on proxy settings", "## Proxy settings", "run --pro", "# Guide"} {
			if !keepsLine(t, text, res, words) {
				t.Errorf("%v: %q is cut", structure, words)
			}
		}
		if all := keepsLine(t, text, res, "## Keys") && keepsLine(t, text, res, "## Themes"); all != (structure == All) {
			t.Errorf("%v: all headings stay = %v", structure, all)
		}
	}
}

// A request for a section includes its subsections, whatever their words.
func TestASubsectionSharesItsSectionsChance(t *testing.T) {
	text := "# a\nwanted\n## b\nbelow it\n### c\ndeeper\n# d\nanother\n"
	tx, _ := readText(Request{Text: text, Source: Docs}, IndexLines(text))
	got := tx.shareSections(tx.shape(), []float32{1, 1, 0, 0, 0, 0, 0, 0})
	for r := 1; r < len(got); r++ {
		if got[r] > got[r-1] {
			t.Errorf("chances = %v, want none larger than the one before", got)
		}
	}
	if got[3] < .5 || got[5] < .5 || got[6] != 0 {
		t.Errorf("chances = %v, want subsections to have most of the section's, and the next section nothing", got)
	}
}

// TestALongFenceDoesNotCrowdOut: one matching line of a long example does not take the room of the
// section about it.
func TestALongFenceDoesNotCrowdOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Settings\n\n## All of them\n\n```toml\n")
	for i := range 60 {
		fmt.Fprintf(&b, "key%d = %d\n", i, i)
	}
	b.WriteString("progress.width = 80\n```\n\n")
	for i := range 50 {
		fmt.Fprintf(&b, "## The key %d\n\nWhat it does is told here, and when it came.\nIt has no default.\n\n", i)
	}
	b.WriteString("## The progress width\n\nHow wide the bar is.\nIt is measured in columns.\nLess than ten is ten.\n")
	for _, line := range keptOf(b.String(), Plan(Request{Text: b.String(), Goal: "progress.width", Source: Docs, MaxPruneRatio: .9, Structure: Enclosing})) {
		if strings.Contains(line, "measured in columns") {
			return
		}
	}
	t.Error("the section that is asked for is gone")
}
