package prune

import (
	"math"
	"strings"
	"testing"
)

// Lines that a plan keeps for the goal are ranked above those it cuts, and unranked lines are
// marked.
func TestScores(t *testing.T) {
	text := strings.Repeat("2026-01-01 INFO  compiling the parser\n\n", 1)
	for i := range 200 {
		text += "2026-01-01 INFO  --- PASS: Test" + string(rune('A'+i%26)) + string(rune('a'+i/26)) + " (0.0s)\n"
	}
	text += "2026-01-01 ERROR --- FAIL: TestDiscount: got 70, want 72\n"
	req := Request{Text: text, Goal: "why does TestDiscount fail", Source: Logs, MaxPruneRatio: 0.9}
	scores, plan := Scores(req), Plan(req)
	if len(scores) != plan.Lines || !math.IsNaN(scores[1]) {
		t.Fatalf("%d scores of %d lines, of a blank one %v", len(scores), plan.Lines, scores[1])
	}
	last := scores[len(scores)-1]
	for _, b := range plan.Blocks {
		for line := b.Start; line <= b.End; line++ {
			if s := scores[line-1]; s >= last {
				t.Errorf("line %d was cut and has %v; the failure has %v", line, s, last)
			}
		}
	}
	if len(plan.Blocks) == 0 {
		t.Error("nothing was cut")
	}
	if Scores(Request{}) != nil {
		t.Error("the empty text has scores")
	}
}
