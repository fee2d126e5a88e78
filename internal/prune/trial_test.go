package prune

import (
	"slices"
	"testing"
)

// TestPlansOfATrialAreIndependent: earlier plans do not change a plan.
func TestPlansOfATrialAreIndependent(t *testing.T) {
	text := "// One file\n// has a long\n// comment\n// at its head,\n// and it is\n// said in it\n// what the file\n// is for\n" + programText(t, 1<<14)
	x := NewTrial(Request{Text: text, Goal: "how are the rows of a text scored", Source: Code})
	_, _, score, _ := examine(Request{Text: text, Goal: "how are the rows of a text scored", Source: Code}, IndexLines(text))
	first := x.Plan(score, .9, Enclosing)
	x.Plan(score, .9, All)
	if again := x.Plan(score, .9, Enclosing); !slices.Equal(first.Blocks, again.Blocks) {
		t.Errorf("kept %d lines, and %d after another plan", first.Kept, again.Kept)
	}
}
