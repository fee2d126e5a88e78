package access

import (
	"slices"
	"strings"
)

// maxRules limits the number of rules, and so the size of a decision's bit sets.
const (
	maxRules = 4096
	maxWords = maxRules / 64
)

// bits is a set of rules, by position.
type bits []uint64

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

// found collects the rules that match a value.
type found [maxWords]uint64

func (f *found) add(b bits) {
	for i, word := range b {
		f[i] |= word
	}
}

// index finds the rules that match a value of one attribute. The cost depends on the value's length
// and on the number of different prefix lengths. It does not depend on the number of patterns:
// literals and prefixes are found by hashing. Only patterns with more text behind a * are tried one
// by one.
type index struct {
	words  int
	any    bits               // rules without a pattern for this attribute
	exact  map[string]bits    // literal patterns
	starts map[string]*bucket // patterns by their literal prefix
	sizes  []int              // lengths of these prefixes, ascending
	ends   map[string]bits    // patterns of the form *literal
	tails  []int              // lengths of these literals, ascending
}

// bucket holds the patterns with the same prefix.
type bucket struct {
	all  bits // only * follows
	rest []remainder
}

type remainder struct {
	pattern string // without the prefix
	rule    int
}

func newIndex(rules int) *index {
	words := (rules + 63) / 64
	return &index{
		words: words, any: make(bits, words),
		exact: map[string]bits{}, starts: map[string]*bucket{}, ends: map[string]bits{},
	}
}

// ask makes a rule match these patterns. Without patterns it matches every value, and also a
// missing one.
func (x *index) ask(rule int, patterns Globs) {
	if len(patterns) == 0 {
		x.any.set(rule)
	}
	for _, p := range patterns {
		x.addGlob(rule, p)
	}
}

func (x *index) addGlob(rule int, pattern string) {
	start, rest := literalStart(pattern)
	switch {
	case rest == "":
		x.in(x.exact, start).set(rule)
	case start == "" && len(rest) > 1 && !strings.ContainsAny(rest[1:], "*?") && rest[0] == '*':
		end := rest[1:]
		x.in(x.ends, end).set(rule)
		x.tails = insertSorted(x.tails, len(end))
	default:
		x.addStart(rule, start, rest)
	}
}

// addStart makes a rule match values that begin with start and continue as rest. "*" and "**" match
// any continuation.
func (x *index) addStart(rule int, start, rest string) {
	b := x.starts[start]
	if b == nil {
		b = &bucket{all: make(bits, x.words)}
		x.starts[start] = b
		x.sizes = insertSorted(x.sizes, len(start))
	}
	if strings.Trim(rest, "*") == "" {
		b.all.set(rule)
		return
	}
	b.rest = append(b.rest, remainder{rest, rule})
}

func (x *index) in(m map[string]bits, key string) bits {
	if m[key] == nil {
		m[key] = make(bits, x.words)
	}
	return m[key]
}

// match adds the rules whose patterns match the value.
func (x *index) match(f *found, value string) {
	if b, ok := x.exact[value]; ok {
		f.add(b)
	}
	for _, n := range x.sizes {
		if n > len(value) {
			break
		}
		b := x.starts[value[:n]]
		if b == nil {
			continue
		}
		f.add(b.all)
		for _, r := range b.rest {
			if Glob(r.pattern, value[n:]) {
				f[r.rule/64] |= 1 << (r.rule % 64)
			}
		}
	}
	for _, n := range x.tails {
		if n > len(value) {
			break
		}
		if b, ok := x.ends[value[len(value)-n:]]; ok {
			f.add(b)
		}
	}
}

func insertSorted(list []int, n int) []int {
	i, have := slices.BinarySearch(list, n)
	if have {
		return list
	}
	return slices.Insert(list, i, n)
}
