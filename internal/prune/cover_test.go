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

// TestNamesAreCovered: where what comes next is not known, the lines that stay have more of the text's names than those of the goal alone.
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

// TestCoverOrderHasEveryRowOnce, the best of the goal among the first.
func TestCoverOrderHasEveryRowOnce(t *testing.T) {
	text := programText(t, 1<<16)
	x, s, score, ok := examine(Request{Text: text, Goal: "how are the rows of a text scored", Source: Code}, IndexLines(text))
	if !ok || s == nil {
		t.Fatal("no time")
	}
	order := x.coverOrder(score)
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
