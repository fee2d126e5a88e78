package config

import (
	"slices"
	"strings"
)

// suggest is the known key that an unknown one was probably meant to be, or "".
func suggest(unknown string, known []string) string {
	if len(unknown) > 64 {
		return ""
	}
	best, bestDistance, plain := "", 1+len(unknown)/5, plainKey(unknown)
	for _, k := range known {
		if plainKey(k) == plain {
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

// plainKey is what logLevel, log-level and LOG_LEVEL have in common.
func plainKey(s string) string { return strings.ToLower(separators.Replace(s)) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// distance counts the letters to insert, delete, replace or swap with their neighbour to make a into b.
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

// among writes alternatives as a person would: a, b or c.
func among(values []string) string {
	values = slices.Clone(values)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
