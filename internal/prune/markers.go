package prune

import (
	"strconv"
	"strings"
)

// ReadMarkers finds the blocks that markers of an id stand for in a text, in order. What only looks like a marker is none.
func ReadMarkers(text, id string) (blocks []Block) {
	start := "⟦PRUNÉ: prune_id=" + id + " lignes "
	for {
		_, rest, found := strings.Cut(text, start)
		if !found {
			return blocks
		}
		text = rest
		head, _, _ := strings.Cut(rest, "⟧")
		if b, ok := readBlock(head); ok && strings.HasPrefix(Marker(id, b), start+head) {
			blocks = append(blocks, b)
		}
	}
}

// readBlock reads "a-b (n) raison=…".
func readBlock(text string) (b Block, ok bool) {
	lines, reason, found := strings.Cut(text, ") raison=")
	span, _, hasCount := strings.Cut(lines, " (")
	first, last, isSpan := strings.Cut(span, "-")
	var err1, err2 error
	b.Start, err1 = strconv.Atoi(first)
	b.End, err2 = strconv.Atoi(last)
	b.Reason = reason
	return b, found && hasCount && isSpan && err1 == nil && err2 == nil && 0 < b.Start && b.Start <= b.End
}
