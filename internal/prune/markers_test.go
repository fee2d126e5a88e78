package prune

import (
	"slices"
	"strings"
	"testing"
)

// The markers of a rendered text give the plan's cuts; other ids and broken markers are ignored.
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

// Markers of the chat door are read in the current form and in the previous one. The first names
// the id for the others.
func TestMarkersOfTheChatDoorAreReadInEveryForm(t *testing.T) {
	first := Mark{Unit: InLines, Start: 27, End: 41, ID: "prn_a", Names: []string{"aName", "bName"}, Note: "Left out."}.String()
	if want := "⟦PRUNED lines 27-41 id=prn_a names: aName, bName. Left out.⟧"; first != want {
		t.Fatalf("marker %s, want %s", first, want)
	}
	want := []Block{{Start: 27, End: 41}, {Start: 50, End: 60}}
	for name, text := range map[string]string{
		"today's":         "x\n" + first + "\ny\n" + Mark{Unit: InLines, Start: 50, End: 60}.String() + "\n",
		"the one before":  "⟦PRUNÉ: prune_id=prn_a lignes 27-41; noms: aName⟧\ny\n⟦PRUNÉ: lignes 50-60⟧",
		"no note":         "⟦PRUNED lines 27-41 id=prn_a. Left out.⟧⟦PRUNED lines 50-60 names: cName⟧",
		"characters, too": first + Mark{Unit: InChars, Start: 4388, End: 8364}.String() + "⟦PRUNED lines 50-60⟧",
		"another's first": "⟦PRUNED lines 1-2⟧⟦PRUNED lines 3-4 id=prn_b⟧" + first + "⟦PRUNED lines 50-60⟧⟦PRUNED lines 3-4 id=prn_b⟧",
	} {
		if got := ReadMarkers(text, "prn_a"); !slices.Equal(got, want) || !HasMark(text) {
			t.Errorf("%s: ReadMarkers = %v, want %v", name, got, want)
		}
	}
	for _, other := range []string{"⟦PRUNED lines 9-8 id=prn_a⟧", "⟦PRUNED lines x id=prn_a⟧", "⟦PRUNED lines 1-2 id=prn_a"} {
		if got := ReadMarkers(other, "prn_a"); got != nil {
			t.Errorf("ReadMarkers(%q) = %v, want none", other, got)
		}
	}
}
