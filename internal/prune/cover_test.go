package prune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"def get_field(self, fieldName):":               "get_field fieldName",
		"if __name__ == '__main__':":                    "__name__ __main__",
		"x = HTTPServer(port=8080, id=a1b2c3)":          "HTTPServer a1b2c3",
		"return value  # nothing to remember":           "",
		"2026-02-01 12345678 CONSTANT":                  "",
		"étude_de_cas, sha=" + strings.Repeat("a1", 30): "tude_de_cas",
	} {
		var got []string
		eachName(line, func(name string) { got = append(got, name) })
		if strings.Join(got, " ") != want {
			t.Errorf("eachName(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestNamesAreCovered: if the next request is unknown, the kept lines have more of the text's names
// than with the goal alone.
func TestNamesAreCovered(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "func handler_%d(request) {\n", i)
		for j := range 8 {
			fmt.Fprintf(&b, "\tresult = result + request.size * %d // what is here again and again\n", j)
		}
		b.WriteString("}\n\n")
	}
	req := Request{Text: b.String(), Goal: "result of the request size", Source: Code, MaxPruneRatio: .8, Structure: Enclosing, Fill: true, Marker: shortened}
	names := func(req Request) (n int) {
		for _, line := range keptOf(req.Text, Plan(req)) {
			n += strings.Count(line, "handler_")
		}
		return n
	}
	without := names(req)
	req.Names = true
	if with := names(req); with < 55 || without >= with {
		t.Errorf("%d of 60 names stay, %d where names do not count", with, without)
	}
	if a, b := Plan(req), Plan(req); !slices.Equal(a.Blocks, b.Blocks) {
		t.Error("two plans of one request differ")
	}
}

func shortened(b Block) string { return fmt.Sprintf("⟦PRUNÉ: lignes %d-%d⟧", b.Start, b.End) }

// TestCoverOrderHasEveryRowOnce, with the best rows for the goal among the first.
func TestCoverOrderHasEveryRowOnce(t *testing.T) {
	text := programText(t, 1<<16)
	x, s, score, ok := examine(Request{Text: text, Goal: "how are the rows of a text scored", Source: Code}, IndexLines(text))
	if !ok {
		t.Fatal("no time")
	}
	order := x.coverOrder(s, score, nil)
	seen := make([]bool, x.rows())
	for _, r := range order {
		if seen[r] {
			t.Fatalf("row %d comes twice", r)
		}
		seen[r] = true
	}
	if len(order) != x.rows() {
		t.Errorf("%d of %d rows", len(order), x.rows())
	}
	best := bestFirst(score)[0]
	if at := slices.Index(order, best); at > len(order)/10 {
		t.Errorf("the goal's best row is number %d of %d", at, len(order))
	}
}

// orderOf returns the cover order of a program's lines, all equally likely.
func orderOf(t *testing.T, text string, known func(string) bool) (lines []string) {
	t.Helper()
	x, s, score, ok := examine(Request{Text: text, Goal: "nothing of it", Source: Code}, IndexLines(text))
	if !ok {
		t.Fatal("no time")
	}
	clear(score)
	for _, r := range x.coverOrder(s, score, known) {
		lines = append(lines, x.row(int(r)))
	}
	return lines
}

// TestARowBringsTheNamesAroundIt: names in a kept row's headers need no other row.
func TestARowBringsTheNamesAroundIt(t *testing.T) {
	order := orderOf(t, "call(outer_name)\ncall(other_name)\n"+
		"def outer_name(and, a, lot, of, plain, words, so, that, it, is, a, very, long, line, of, which, a, name, is, the, least):\n"+
		"\ta_b_c_d\n", nil)
	if slices.Index(order, "call(other_name)") > slices.Index(order, "call(outer_name)") {
		t.Errorf("the name of a header that stays comes first: %q", order)
	}
}

// TestKnownNamesCountNothing: no row counts for a name that is known from elsewhere.
func TestKnownNamesCountNothing(t *testing.T) {
	const text = "call(first_name)\ncall(other_name)\ncall(third_name)\n"
	known := func(name string) bool { return name != "third_name" }
	if order := orderOf(t, text, known); order[0] != "call(third_name)" {
		t.Errorf("%q", order)
	}
	if order := orderOf(t, text, nil); order[0] != "call(first_name)" {
		t.Errorf("nothing known: %q", order)
	}
}

// TestNamesLeaveNoBridges: if names count, a line without names does not stay merely because it is
// between two with names.
func TestNamesLeaveNoBridges(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "call(some_name_%d)\nthis line has nothing to remember and is longer than what stands for it\n", i)
	}
	req := Request{Text: b.String(), Goal: "nothing of it", Source: Code, MaxPruneRatio: .5, Structure: Enclosing, Fill: true, Names: true, Marker: shortened}
	names := 0
	for _, line := range keptOf(req.Text, Plan(req)) {
		names += strings.Count(line, "some_name_")
	}
	if names < 39 {
		t.Errorf("%d of 40 names stay", names)
	}
}
