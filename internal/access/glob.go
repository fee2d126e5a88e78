package access

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Globs is a list of patterns, at least one of which must match. * is any run of characters, ? is
// one; case matters. In a file, a single pattern needs no brackets. An empty list matches
// everything.
type Globs []string

// Match reports whether one of the patterns matches the value.
func (g Globs) Match(value string) bool {
	return slices.ContainsFunc(g, func(p string) bool { return Glob(p, value) })
}

// Glob matches one pattern. It backtracks only to the last *, which bounds its time by the product
// of both lengths.
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

// literalStart splits a pattern before its first wildcard.
func literalStart(pattern string) (start, rest string) {
	i := strings.IndexAny(pattern, "*?")
	if i < 0 {
		return pattern, ""
	}
	return pattern[:i], pattern[i:]
}
