package access

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Globs are patterns of which one has to match: * is any run of characters, ? is one; case counts. In a file a single one
// may stand without brackets. None matches anything.
type Globs []string

// Match reports whether one of the patterns matches the value.
func (g Globs) Match(value string) bool {
	return slices.ContainsFunc(g, func(p string) bool { return Glob(p, value) })
}

// Glob matches one pattern. It goes back to the last * only, so that its time is bounded by the product of the lengths.
func Glob(pattern, value string) bool {
	star, again := -1, 0
	p, v := 0, 0
	for v < len(value) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, again = p, v
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(value[v:])
			p, v = p+1, v+size
			continue
		case p < len(pattern) && pattern[p] == value[v]:
			p, v = p+1, v+1
			continue
		case star < 0:
			return false
		}
		_, size := utf8.DecodeRuneInString(value[again:])
		again += size
		p, v = star+1, again
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// literalStart is what every value that a pattern matches begins with, and what is left of the pattern.
func literalStart(pattern string) (start, rest string) {
	i := strings.IndexAny(pattern, "*?")
	if i < 0 {
		return pattern, ""
	}
	return pattern[:i], pattern[i:]
}
