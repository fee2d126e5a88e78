package prune

import (
	"strconv"
	"strings"
)

// readSeedMark reads a marker of prune_text, without its closing bracket.
func readSeedMark(head, id string) (Block, bool) {
	start := "⟦PRUNÉ: prune_id=" + id + " lignes "
	rest, ok := strings.CutPrefix(head, start)
	if !ok {
		return Block{}, false
	}
	b, ok := readBlock(rest)
	return b, ok && Marker(id, b) == head+markEnd
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
