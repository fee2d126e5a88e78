package pruner

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// TestLinesOfATextInJSONAreRecovered: for a text wrapped into JSON, a pruned result counts the
// lines of that text.
func TestLinesOfATextInJSONAreRecovered(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	doc := `{"output":` + string(rawjson.AppendQuoted(nil, b.String())) + `}`
	got, failed := recoverLines(doc, []prune.Span{{Start: 27, End: 28}}, false, 1<<20, 0)
	if failed != nil || got.text != "line 27\nline 28\n" {
		t.Errorf("%q, %v", got.text, failed)
	}
	// A range that starts within the document counts its lines, clamped.
	for _, end := range []int{1, 150} {
		if got, failed = recoverLines(doc, []prune.Span{{Start: 1, End: end}}, false, 1<<20, 0); failed != nil || got.text != doc || got.spans[0].End != 1 {
			t.Errorf("the document itself: %q, %v, %v", got.text, got.spans, failed)
		}
	}
	if _, failed = recoverLines(doc, []prune.Span{{Start: 201, End: 210}}, false, 1<<20, 0); failed == nil {
		t.Error("lines past the end are given")
	}
}
