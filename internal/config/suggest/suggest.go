package suggest

import "strings"

// Nearest returns the known name that the unknown one was probably meant to be, or "".
func Nearest(unknown string, known []string) string {
	if len(unknown) > 64 {
		return ""
	}
	best, bestDistance, plain := "", 1+len(unknown)/5, folded(unknown)
	for _, k := range known {
		if folded(k) == plain {
			return k
		}
		if len(k)-len(unknown) > bestDistance || len(unknown)-len(k) > bestDistance {
			continue
		}
		if d := distance(strings.ToLower(unknown), k); d <= bestDistance && (d < bestDistance || best == "") {
			best, bestDistance = k, d
		}
	}
	return best
}

// folded returns what logLevel, log-level and LOG_LEVEL have in common.
func folded(s string) string { return strings.ToLower(separators.Replace(s)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// distance counts the letters to insert, delete, replace or swap with their neighbour to turn a
// into b.
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(next[j]+1, row[j+1]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
