package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/llm/bpe"
	"secateur/internal/prune"
)

// TestAMarkerCostsLessThanItReplaces counts the tokens of every cut exactly, with names and
// without.
func TestAMarkerCostsLessThanItReplaces(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "x%d := %s\n", i, strings.Repeat(fmt.Sprintf("SomeName%d + other_name_%d + ", i, i*7), i%5))
	}
	text := b.String()
	lines := prune.IndexLines(text)
	for size := 1; size < 8; size++ {
		var blocks []prune.Block
		for at := 3; at+size < lines.Len(); at += size + 2 {
			blocks = append(blocks, prune.Block{Start: at, End: at + size - 1})
		}
		out, _ := newRendering(text, someID, Recovery{}).renderPruned(blocks, 1<<20, nil)
		if before, after := bpe.Count(text), bpe.Count(out); after > before {
			t.Errorf("cuts of %d lines: %d tokens, were %d", size, after, before)
		}
		at, named := 0, false
		for line := range strings.Lines(out) {
			var from, to int
			_, span, isMarker := strings.Cut(line, "PRUNED lines ")
			if !isMarker {
				continue
			}
			if _, err := fmt.Sscanf(span, "%d-%d", &from, &to); err != nil {
				t.Fatal(err)
			}
			at++
			named = named || strings.Contains(line, "SomeName")
			if cost, worth := bpe.Count(line), bpe.Count(lines.Range(from, to)); cost >= worth {
				t.Errorf("%q has %d tokens and stands for %d", line, cost, worth)
			}
		}
		if size > 2 && (at == 0 || !named) {
			t.Errorf("cuts of %d lines: %d markers, with names %v", size, at, named)
		}
	}
}
