package prune

import (
	"fmt"
	"strings"
	"testing"
)

// likelyText is a program of functions of ten lines. Every each-th function is about retries.
func likelyText(functions, each int) string {
	var b strings.Builder
	b.WriteString("package pool\n\n")
	for i := range functions {
		fmt.Fprintf(&b, "func step%d(conn *Conn, rows []Row) error {\n", i)
		if i%each == 0 {
			for j := range 4 {
				fmt.Fprintf(&b, "\tconn.retry = conn.budget.attempts(%d, rows[%d])\n", i, j)
			}
		} else {
			for j := range 4 {
				fmt.Fprintf(&b, "\tconn.width%d = rows[%d].height - rows[%d].depth\n", j, i, j)
			}
		}
		b.WriteString("\tif conn.done {\n\t\treturn nil\n\t}\n\treturn conn.flush()\n}\n\n")
	}
	return b.String()
}

func likelyRequest(text string, ratio float64) Request {
	return Request{
		Text: text, Goal: "The budget of retry attempts is spent too early when a backend closes", Source: Code,
		MaxPruneRatio: ratio, Structure: Enclosing, Marker: idMarker,
	}
}

// The ratio is a ceiling: a text with many likely lines keeps more of them than one in which a few
// stand out.
func TestManyLikelyLinesKeepMore(t *testing.T) {
	const ratio = .9
	few, many := likelyText(60, 60), likelyText(60, 3)
	share := func(req Request) float64 {
		res := Plan(req)
		checkMarkers(t, req, res)
		return float64(res.Pruned()) / float64(res.Lines)
	}
	a, b := share(likelyRequest(few, ratio)), share(likelyRequest(many, ratio))
	if a < b+.05 {
		t.Errorf("%.2f cut where few lines stand out, %.2f where many are likely", a, b)
	}
	req := likelyRequest(many, ratio)
	req.fixed = true
	if fixed := share(req); b > fixed-.05 {
		t.Errorf("%.2f cut where many are likely, %.2f by a fixed budget", b, fixed)
	}
}

// However likely everything is, three quarters of the removable lines go, except those kept for
// orientation.
func TestLikelyLinesLeaveMostOfTheCut(t *testing.T) {
	alike := strings.Repeat("the budget of retry attempts, and what a backend closes early\n", 20)
	for name, text := range map[string]string{"many": likelyText(60, 2), "all": likelyText(60, 1), "alike": strings.Repeat(alike+"\n", 20)} {
		for _, source := range []Source{Code, Docs} {
			for _, ratio := range []float64{.3, .5, .7, .9, .97} {
				req := likelyRequest(text, ratio)
				req.Source, req.Marker = source, nil
				// No line has all of it.
				req.Goal += " unless it was asked for by hand with no word of this text whatever"
				fixed := req
				fixed.fixed = true
				res, before := Plan(req), Plan(fixed)
				_, most := allowance(res.Lines, ratio, 0)
				if over := res.Kept - before.Kept; over < 0 || over > most/spareable+res.Lines/orientation {
					t.Errorf("%s, %v at %v: %d of %d lines stay, by a fixed budget %d", name, source, ratio, res.Kept, res.Lines, before.Kept)
				}
			}
		}
	}
}

// A budget is exact if the size matters, or if names or a reranker count. It is also exact in short
// texts and in those of another form.
func TestOnlyChancesKeepMore(t *testing.T) {
	many := likelyRequest(likelyText(60, 3), .9)
	if plain, fixed := cutWith(many, false), cutWith(many, true); plain >= fixed {
		t.Fatalf("%d lines cut, by a fixed budget %d", plain, fixed)
	}
	fill, names, prefer, short, hits := many, many, many, many, many
	fill.Fill = true
	names.Names = true
	prefer.Prefer = make([]float64, IndexLines(many.Text).Len())
	prefer.Prefer[7] = 1
	short.Text = likelyText(8, 1)
	hits.Text = strings.Join(strings.Split("\n"+strings.TrimSuffix(many.Text, "\n"), "\n"), "\npool.go:1:")[1:] + "\n"
	for name, req := range map[string]Request{"fill": fill, "names": names, "prefer": prefer, "short": short, "hits": hits} {
		if plain, fixed := cutWith(req, false), cutWith(req, true); plain != fixed {
			t.Errorf("%s: %d lines cut, by a fixed budget %d", name, plain, fixed)
		}
	}
}

func cutWith(req Request, fixed bool) int {
	req.fixed = fixed
	return Plan(req).Pruned()
}
