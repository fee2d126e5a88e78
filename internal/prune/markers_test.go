package prune

import (
	"slices"
	"strings"
	"testing"
)

// What a rendered text says of its cuts is what the plan cut; other ids and broken markers say nothing.
func TestReadMarkers(t *testing.T) {
	text := strings.Repeat("INFO ok\nWARN cold cache\n", 30) + "ERROR the discount test fails\n" + strings.Repeat("DEBUG more\nINFO less\n", 30)
	var lines strings.Builder
	for i, l := range strings.SplitAfter(text, "\n") {
		lines.WriteString(string(rune('a'+i%26)) + strings.Repeat(string(rune('a'+i/26)), i%7) + " " + l)
	}
	plan := Plan(Request{Text: lines.String(), Goal: "discount", Source: Logs, MaxPruneRatio: 0.8})
	if len(plan.Blocks) == 0 {
		t.Fatal("nothing was cut")
	}
	out, _ := Render(lines.String(), plan, "prn_a", false, true)
	if got := ReadMarkers(out, "prn_a"); !slices.Equal(got, plan.Blocks) {
		t.Errorf("ReadMarkers = %v, want %v", got, plan.Blocks)
	}
	for _, other := range []string{
		"", "⟦PRUNÉ: prune_id=prn_b lignes 1-2 (2) raison=x⟧", "⟦PRUNÉ: prune_id=prn_a lignes 3-2 (0) raison=x⟧", "⟦PRUNÉ: prune_id=prn_a lignes 1-2 (7) raison=x⟧",
		"⟦PRUNÉ: prune_id=prn_a lignes 1-2", "⟦PRUNÉ: prune_id=prn_a lignes x-y (1) raison=⟧",
	} {
		if got := ReadMarkers(other, "prn_a"); got != nil {
			t.Errorf("ReadMarkers(%q) = %v, want none", other, got)
		}
	}
}
