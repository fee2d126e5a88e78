package pins

import (
	"slices"
	"strings"
)

// maxDiffLines limits the length of definitions that are compared line by line.
const maxDiffLines = 2000

// Diff compares two definitions line by line: "-" pinned, "+" current, with two lines of context.
// It returns "" if they are equal.
func Diff(was, now string) string {
	if was == now {
		return ""
	}
	a, b := strings.Split(strings.TrimSuffix(was, "\n"), "\n"), strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return "- " + a[0] + "\n+ " + b[0] + "\n(too long to compare line by line)\n"
	}
	const around = 2
	lines := edits(a, b)
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l[0] != ' ' {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				keep[j] = true
			}
		}
	}
	var out strings.Builder
	for i, l := range lines {
		switch {
		case keep[i]:
			out.WriteString(l + "\n")
		case i > 0 && keep[i-1]:
			out.WriteString("  …\n")
		}
	}
	return out.String()
}

// edits returns a shortest edit script (longest common subsequence).
func edits(a, b []string) (lines []string) {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, "  "+a[i])
			i++
			j++
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			lines = append(lines, "- "+a[i])
			i++
		default:
			lines = append(lines, "+ "+b[j])
			j++
		}
	}
	return lines
}
