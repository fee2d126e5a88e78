package proxy

import "testing"

// TestPruningIsBoundedBySize: what a request prunes depends on its texts, not on the speed of the
// machine.
func TestPruningIsBoundedBySize(t *testing.T) {
	var work pruneWork
	if work.takes(maxPruneChars + 1) {
		t.Error("a result beyond the bound is pruned")
	}
	for i := range maxPruneWork / maxPruneChars {
		if !work.takes(maxPruneChars) {
			t.Errorf("result %d is not pruned", i)
		}
	}
	if work.takes(1) {
		t.Error("a request prunes more than the bound")
	}
}
