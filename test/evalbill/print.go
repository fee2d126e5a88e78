package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// dearer is the ratio above which a run has cost more; less is rounding.
const dearer = 1 + 1e-9

// farOff is the allowed error of a reported ratio.
const farOff = 0.02

// totals are those of all runs at one price.
type totals struct {
	runs, requests         int
	through, paid, toldSum float64 // toldSum: paid according to the reported ratios
	ends                   []float64
	worst                  float64
	above, aboveAtEnd      int // runs that were ever dearer, and those that ended so
	// Runs whose reported ratio was ever far off, and those that ended so.
	off, offAtEnd int
	farthest      float64
}

func sum(outcomes []outcome) (t totals) {
	for _, o := range outcomes {
		truth := o.end.Ratio()
		t.runs++
		t.requests += o.requests
		t.through += o.end.Through
		t.paid += o.end.Paid
		t.toldSum += o.told * o.end.Through
		t.ends = append(t.ends, truth)
		t.worst, t.farthest = max(t.worst, o.worst), max(t.farthest, o.off)
		t.above += count(o.worst > dearer)
		t.aboveAtEnd += count(truth > dearer)
		t.off += count(o.off > farOff)
		t.offAtEnd += count(math.Abs(o.told-truth) > farOff)
	}
	slices.Sort(t.ends)
	return t
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// printTotals prints a Markdown table with a row for each price.
func printTotals(w io.Writer, played []prices, outcomes [][]outcome, limits []ratios) {
	t := sum(outcomes[0])
	fmt.Fprintf(w, "%d runs, %d requests\n\n", t.runs, t.requests)
	fmt.Fprintln(w, "| prices (read, write) | passing through | limit | limit, never above | true, all runs | told, all runs | true mean | true median | worst moment | runs ever above 1 | at their end | told ever off by more than 0.02 | at their end | farthest |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for i, p := range played {
		t := sum(outcomes[i])
		fmt.Fprintf(w, "| %s (%.3g, %.3g) | 1.00 | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.4f | %d | %d | %d | %d | %.3f |\n",
			p.model, p.terms.Read, p.terms.Write, limits[i].atTheEnd, limits[i].always, t.paid/t.through, t.toldSum/t.through, mean(t.ends), median(t.ends),
			t.worst, t.above, t.aboveAtEnd, t.off, t.offAtEnd, t.farthest)
	}
}

// printDear lists the runs that were ever dearer than passing through, and counts them.
func printDear(w io.Writer, p prices, outcomes []outcome) (n int) {
	for _, o := range outcomes {
		if o.worst > dearer {
			n++
			fmt.Fprintf(w, "above 1 at %s: %s, %.4f at request %d of %d, %.4f at its end\n", p.model, o.id, o.worst, o.worstAt+1, o.requests, o.end.Ratio())
		}
	}
	return n
}

// printEach prints every run.
func printEach(w io.Writer, p prices, outcomes []outcome) {
	fmt.Fprintf(w, "%-60s %8s %8s %8s %8s %8s\n", p.model, "requests", "true", "told", "worst", "off")
	for _, o := range outcomes {
		fmt.Fprintf(w, "%-60s %8d %8.3f %8.3f %8.4f %8.3f\n", o.id, o.requests, o.end.Ratio(), o.told, o.worst, o.off)
	}
	fmt.Fprintln(w)
}
