package document

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is the number of unchanged lines around a change in a diff.
const contextLines = 3

// Diff returns a unified diff of two versions of a file; "": equal. It has one hunk, because an
// edit is in one place.
func Diff(name string, before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, until := max(head-contextLines, 0), max(tail-contextLines, 0)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", name, name, span(from, len(a)-until), span(from, len(b)-until))
	write := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-until])
	return out.String()
}

// span returns the range of a hunk: the first line, counted from 1, and the number of lines. An
// empty range names the line before it.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func splitLines(data []byte) []string {
	return slices.Collect(strings.Lines(string(data)))
}
