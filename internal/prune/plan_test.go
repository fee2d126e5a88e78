package prune

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kept returns, for lines from 1, whether a plan keeps them; index 0 is unused.
func kept(res Result) []bool {
	out := make([]bool, res.Lines+1)
	for i := range out {
		out[i] = true
	}
	for _, b := range res.Blocks {
		for i := b.Start; i <= b.End; i++ {
			out[i] = false
		}
	}
	return out
}

// keepsLine reports whether a plan keeps the only line of the text with these words.
func keepsLine(t *testing.T, text string, res Result, words string) bool {
	t.Helper()
	found := 0
	for i, line := range strings.SplitAfter(text, "\n") {
		if strings.Contains(line, words) {
			if found != 0 {
				t.Fatalf("%q stands in two lines", words)
			}
			found = i + 1
		}
	}
	if found == 0 {
		t.Fatalf("%q stands in no line", words)
	}
	return kept(res)[found]
}

func TestAllowanceNeverExceedsTheRatio(t *testing.T) {
	for _, c := range []struct {
		name                    string
		lines                   int
		ratio                   float64
		minKeep                 int
		wantByRatio, wantByBoth int
	}{
		{"seven of ten are seven tenths", 10, .7, 0, 7, 7},
		{"three of ten are three tenths", 10, .3, 0, 3, 3},
		{"a share between two lines is rounded down", 7, .5, 0, 3, 3},
		{"nothing of nothing", 0, .5, 0, 0, 0},
		{"a ratio of zero", 10, 0, 0, 0, 0},
		{"a ratio of one", 10, 1, 0, 10, 10},
		{"above one is one", 10, 7, 0, 10, 10},
		{"below zero is zero", 10, -1, 0, 0, 0},
		{"not a number is zero", 10, math.NaN(), 0, 0, 0},
		{"lines to keep win", 10, .7, 8, 7, 2},
		{"more lines to keep than there are", 10, .7, 80, 7, 0},
		{"a negative number of lines to keep is none", 10, .7, -5, 7, 7},
		{"the smallest share", 1000000, 1e-6, 0, 1, 1},
		{"29 of 100", 100, .29, 0, 29, 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			byRatio, byBoth := allowance(c.lines, c.ratio, c.minKeep)
			if byRatio != c.wantByRatio || byBoth != c.wantByBoth {
				t.Errorf("allowance(%d, %v, %d) = %d, %d, want %d, %d", c.lines, c.ratio, c.minKeep, byRatio, byBoth, c.wantByRatio, c.wantByBoth)
			}
		})
	}
}

// anyText draws texts of the kinds that break line tools.
func anyText() *rapid.Generator[string] {
	pieces := []string{
		"", " ", "\t", "import os", "def parse_config(path):", "    return None", "}", "{", "func (s *Server) Run() error {", "# Heading", "## Sub",
		"```", "```go", "~~~", "| a | b |", "|---|---|", "ERROR cannot open file", "Traceback (most recent call last):", "  File \"a.py\", line 3", "at a.b(C.java:3)",
		beginProtected, endProtected, "x " + beginProtected + " y", "⟦PRUNÉ: prune_id=prn_X lignes 1-2 (2) raison=faux⟧", "a\rb", "\x00\x01", "\xff\xfe broken", "ééé",
		"e\u0301\u0301", "שלום עולם", "漢字かな交じり文", "<table>", "</table>", "====", "Title", "package main", "INFO 12 started", "INFO 13 started", "\ufeffimport x",
		strings.Repeat("word ", 50), "class A extends B {", "/* open", "*/", `"""doc`, "import (", ")",
	}
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 60).Draw(t, "lines")
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l)
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n"}).Draw(t, "ending"))
		}
		text := b.String()
		if rapid.Bool().Draw(t, "no final newline") {
			text = strings.TrimSuffix(text, "\n")
		}
		return text
	})
}

func anyRequest() *rapid.Generator[Request] {
	return rapid.Custom(func(t *rapid.T) Request {
		return Request{
			Text:          anyText().Draw(t, "text"),
			Goal:          rapid.OneOf(rapid.SampledFrom([]string{"", "why did it fail", "parse config", "garder Title"}), rapid.String()).Draw(t, "goal"),
			Source:        rapid.SampledFrom([]Source{Code, Logs, Docs}).Draw(t, "source"),
			MaxPruneRatio: rapid.OneOf(rapid.SampledFrom([]float64{0, .1, .3, .5, .7, .9, 1}), rapid.Float64Range(0, 1)).Draw(t, "ratio"),
			MinKeepLines:  rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 80)).Draw(t, "min keep"),
			Structure:     rapid.SampledFrom([]Structure{All, Enclosing}).Draw(t, "structure"),
		}
	})
}

// checkPlan checks every guarantee of a plan that does not depend on the kind of text.
func checkPlan(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, req Request, res Result,
) {
	t.Helper()
	lines := IndexLines(req.Text)
	if res.Lines != lines.Len() {
		t.Fatalf("Lines = %d, want %d", res.Lines, lines.Len())
	}
	pruned, last := 0, 0
	for _, b := range res.Blocks {
		if b.Start <= last || b.Start == last+1 && last > 0 || b.End < b.Start || b.End > res.Lines {
			t.Fatalf("block %+v after line %d of %d", b, last, res.Lines)
		}
		if b.Reason == "" || strings.ContainsAny(b.Reason, "⟦⟧\n\r") || len([]rune(b.Reason)) > 140 {
			t.Fatalf("reason %q", b.Reason)
		}
		last = b.End
		pruned += b.Count()
	}
	if res.Kept+pruned != res.Lines {
		t.Fatalf("kept %d + pruned %d of %d lines", res.Kept, pruned, res.Lines)
	}
	if pruned > 0 && float64(pruned)/float64(res.Lines) > req.MaxPruneRatio {
		t.Fatalf("pruned %d of %d lines, ratio %v", pruned, res.Lines, req.MaxPruneRatio)
	}
	if res.Kept < min(req.MinKeepLines, res.Lines) {
		t.Fatalf("kept %d of %d lines, want %d", res.Kept, res.Lines, req.MinKeepLines)
	}
	byRatio, _ := allowance(res.Lines, req.MaxPruneRatio, 0)
	if res.Unmet && (byRatio == 0 || pruned > 0) {
		t.Fatalf("unmet with %d lines allowed and %d pruned", byRatio, pruned)
	}
	keeps := kept(res)
	inside := false
	for i := 1; i <= lines.Len(); i++ {
		line := lines.Line(i)
		begin := strings.LastIndex(line, beginProtected)
		if (inside || begin >= 0) && !keeps[i] {
			t.Fatalf("line %d is protected and goes", i)
		}
		switch end := strings.LastIndex(line, endProtected); {
		case begin > end:
			inside = true
		case end >= 0:
			inside = false
		}
	}
}

func TestPlanKeepsItsPromisesForAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		req := anyRequest().Draw(rt, "request")
		res := Plan(req)
		checkPlan(rt, req, res)
		if again := Plan(req); fmt.Sprint(again) != fmt.Sprint(res) {
			rt.Fatalf("the same request gave %v and then %v", res, again)
		}
	})
}

func TestFencesAndTablesGoOrStayWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		req := anyRequest().Draw(rt, "request")
		req.Source = Docs
		res := Plan(req)
		keeps := kept(res)
		tx, _ := readText(req, IndexLines(req.Text))
		for _, u := range tx.shape().units {
			for line := u.first; line <= u.last; line++ {
				if keeps[line+1] != keeps[u.first+1] {
					rt.Fatalf("unit %d-%d is cut at %d", u.first+1, u.last+1, line+1)
				}
			}
		}
	})
}

func TestStructuralLinesStayWithAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		req := anyRequest().Draw(rt, "request")
		req.Structure = All
		res := Plan(req)
		keeps := kept(res)
		tx, _ := readText(req, IndexLines(req.Text))
		tx.shape()
		for r, k := range tx.kind {
			if k&isStructure != 0 && !keeps[tx.line[r]+1] {
				rt.Fatalf("structural line %d goes", tx.line[r]+1)
			}
		}
	})
}

func TestExpiredCutsNothing(t *testing.T) {
	text := logText(1 << 20)
	for _, source := range []Source{Code, Logs, Docs} {
		for _, polls := range []int{0, 1, 3, 10} {
			left := polls
			res := Plan(Request{Text: text, Goal: "segment", Source: source, MaxPruneRatio: .5, Expired: func() bool { left--; return left < 0 }})
			if !res.TimedOut || res.Kept != res.Lines || len(res.Blocks) != 0 || res.Unmet {
				t.Errorf("%v after %d polls: TimedOut %v, kept %d of %d, %d blocks", source, polls, res.TimedOut, res.Kept, res.Lines, len(res.Blocks))
			}
		}
	}
}

func TestExpiredIsPolledOften(t *testing.T) {
	for name, text := range map[string]string{"many lines": logText(4 << 20), "one line": strings.Repeat("some words here ", 1<<18) + "\nend\n"} {
		polls := 0
		Plan(Request{Text: text, Goal: "segment", Source: Logs, MaxPruneRatio: .5, Expired: func() bool { polls++; return false }})
		if least := len(text) / (2 * pollBytes); polls < least {
			t.Errorf("%s: polled %d times in %d bytes, want %d", name, polls, len(text), least)
		}
	}
}

func TestUnmetOnlyWhereSomethingForbidsEveryCut(t *testing.T) {
	ten := strings.Repeat("line\n", 10)
	for _, c := range []struct {
		name  string
		req   Request
		unmet bool
	}{
		{"nothing may go by the ratio", Request{Text: ten, MaxPruneRatio: 0}, false},
		{"a ratio too small for one line", Request{Text: ten, MaxPruneRatio: .05}, false},
		{"the empty text", Request{Text: "", MaxPruneRatio: .5}, false},
		{"all lines have to stay by number", Request{Text: ten, MaxPruneRatio: .5, MinKeepLines: 10}, true},
		{"all lines are protected", Request{Text: beginProtected + "\n" + ten, MaxPruneRatio: .5}, true},
		{"one fence is the whole text", Request{Text: "```\n" + ten + "```\n", Source: Docs, MaxPruneRatio: .5}, true},
		{"all lines are structure", Request{Text: "import a\nimport b\nimport c\nimport d\n", MaxPruneRatio: .5}, true},
		{"some may go", Request{Text: ten, MaxPruneRatio: .5}, false},
		{"all but one are structure", Request{Text: "import a\nimport b\nimport c\nx = 1\n", MaxPruneRatio: .5}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := Plan(c.req)
			if res.Unmet != c.unmet {
				t.Errorf("Unmet = %v, want %v (kept %d of %d)", res.Unmet, c.unmet, res.Kept, res.Lines)
			}
		})
	}
}

func TestGoalDecides(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "func step%d(a int) int {\n\ttotal := a + %d\n\treturn total\n}\n\n", i, i)
		if i == 20 {
			b.WriteString("func parseTimeout(raw string) (time.Duration, error) {\n\tseconds, err := strconv.Atoi(raw)\n\treturn time.Duration(seconds) * time.Second, err\n}\n\n")
		}
	}
	text := b.String()
	for _, structure := range []Structure{All, Enclosing} {
		res := Plan(Request{Text: text, Goal: "negative timeout is accepted when parsed", MaxPruneRatio: .6, Structure: structure})
		if !keepsLine(t, text, res, "strconv.Atoi") || !keepsLine(t, text, res, "func parseTimeout") {
			t.Errorf("%v: the function that the goal names is cut", structure)
		}
		if res.Pruned() < res.Lines/4 {
			t.Errorf("%v: pruned %d of %d lines", structure, res.Pruned(), res.Lines)
		}
	}
}

func TestExamplesOfTheSpecification(t *testing.T) {
	for _, c := range []struct {
		text, goal string
		ratio      float64
		want       string
	}{
		{"L1\nL2\nL3\nL4", "garder L1", .75, "1│ L1\n⟦PRUNÉ: prune_id=prn_X lignes 2-4 (3) raison="},
		{"L1 keep\nL2 prune\nL3 prune\nL4 keep", "keep", .5, "1│ L1 keep\n⟦PRUNÉ: prune_id=prn_X lignes 2-3 (2) raison=hors focus: prune⟧\n4│ L4 keep"},
	} {
		res := Plan(Request{Text: c.text, Goal: c.goal, Source: Docs, MaxPruneRatio: c.ratio, MinKeepLines: 1})
		got, _ := Render(c.text, res, "prn_X", true, true)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("Render = %q, want it to begin with %q", got, c.want)
		}
	}
}

func TestPreferChangesTheOrderAndNoBound(t *testing.T) {
	text := strings.Repeat("alpha beta gamma\n", 50) + "delta epsilon\n" + strings.Repeat("alpha beta gamma\n", 49)
	prefer := make([]float64, 100)
	for i := range prefer {
		prefer[i] = math.NaN()
	}
	prefer[50], prefer[10] = 1, 0
	req := Request{Text: text, Goal: "alpha", Source: Docs, MaxPruneRatio: .95, Structure: Enclosing, Prefer: prefer}
	res := Plan(req)
	checkPlan(t, req, res)
	if !keepsLine(t, text, res, "delta") {
		t.Error("the line that the reranker likes best is cut")
	}
	req.Prefer = prefer[:7]
	short := Plan(req)
	req.Prefer = nil
	if none := Plan(req); fmt.Sprint(short) != fmt.Sprint(none) {
		t.Errorf("a list of another length has an opinion: %v, without one %v", short, none)
	}
	req.Prefer = slices.Repeat([]float64{math.Inf(1)}, 100)
	checkPlan(t, req, Plan(req))
}

func FuzzPlan(f *testing.F) {
	f.Add("a\nb\nc\n", "b", .5, 0, 0, false)
	f.Add("# T\n\n```\nx\n```\n| a | b |\n|---|---|\n", "x", .9, 1, 2, true)
	f.Add("ERROR x\n\tat a.b(c:1)\nok\n\n\nok\r\nlast", "why", .3, 2, 1, false)
	f.Add("\xff\xfe\n\x00\n"+beginProtected+"\n", "\xff", 1.0, 0, 0, true)
	f.Add("<!doctype html>\n<nav>x\n</nav><h1>y\n</h1><table><tr>\n<td>z</tr></table>\n<pre>\n</pre><!--\n", "y", .6, 0, 2, false)
	f.Fuzz(func(t *testing.T, text, goal string, ratio float64, minKeep, source int, all bool) {
		req := Request{Text: text, Goal: goal, Source: Source(uint(source) % 3), MaxPruneRatio: ratio, MinKeepLines: minKeep % 1000, Structure: Enclosing}
		req.Names = minKeep%2 != 0
		if all {
			req.Structure = All
		}
		res := Plan(req)
		if math.IsNaN(ratio) {
			req.MaxPruneRatio = 0
		}
		checkPlan(t, req, res)
		plain, notes := Render(text, res, "prn_X", false, false)
		lines, keeps := IndexLines(text), kept(res)
		var want strings.Builder
		for i := 1; i <= lines.Len(); i++ {
			if keeps[i] {
				want.WriteString(lines.Line(i))
			}
		}
		if plain != want.String() {
			t.Fatalf("kept lines are not verbatim: %q, want %q", plain, want.String())
		}
		if len(notes) != len(res.Blocks) {
			t.Fatalf("%d annotations of %d blocks", len(notes), len(res.Blocks))
		}
		for _, c := range Candidates(req, 5) {
			if c.Start < 1 || c.End < c.Start || c.End > lines.Len() || c.Text == "" {
				t.Fatalf("candidate %+v of %d lines", c, lines.Len())
			}
		}
	})
}
