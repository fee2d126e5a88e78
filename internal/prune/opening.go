package prune

import "strings"

// opening is what the first word of a row of code does, as a set of bits.
type opening uint8

const (
	opensBranch opening = 1 << iota // branches or loops
	leaves                          // leaves the function
	asserts                         // checks something, as tests do
)

// openings are such words of the common languages.
var openings = func() map[string]opening {
	table := map[string]opening{}
	for words, o := range map[string]opening{
		`if elif else for while switch case when match unless until with try except catch cond foreach`: opensBranch,
		`return raise throw yield break continue panic`:                                                 leaves,
		`assert expect test it describe t require refute should`:                                        asserts,
	} {
		for w := range strings.FieldsSeq(words) {
			table[w] = o
		}
	}
	return table
}()

var openingShapes = shapesOf(openings)

// openings returns what each row begins with, and the share of rows that assert something.
func (t *text) openings() ([]opening, float32) {
	out := make([]opening, t.rows())
	tests := 0
	for r := range out {
		line := t.row(r)
		n := 0
		for n < min(len(line), 12) && classes[line[n]] == lowerClass {
			n++
		}
		if word := line[:n]; openingShapes.has(word) {
			out[r] = openings[word]
		}
		if out[r]&asserts != 0 {
			tests++
		}
	}
	return out, float32(tests) / float32(max(1, len(out)))
}

// fillOpening measures how a row begins, and how many neighbours begin alike.
func (g *gauge) fillOpening(r int, v *vector) {
	word := g.opening[r]
	v[fControl], v[fReturn] = flag(word&opensBranch != 0), flag(word&leaves != 0)
	v[fSimilar] = float32(g.t.similar(r))
}

// fillNear measures how far a row, its neighbours and the headers above it match the goal.
func (g *gauge) fillNear(r int, v *vector) {
	const next = 3
	t := g.t
	v[fTests], v[fNamed] = g.tests, g.groups[g.groupOf[r]].named
	v[fMatched] = float32(len(g.m.of(r))) / float32(4+t.first[r+1]-t.first[r])
	v[fAboveSoft], v[fBelowSoft] = 0, 0
	for d := 1; d <= next; d++ {
		if r-d >= 0 {
			v[fAboveSoft] = max(v[fAboveSoft], g.soft[r-d])
		}
		if r+d < t.rows() {
			v[fBelowSoft] = max(v[fBelowSoft], g.soft[r+d])
		}
	}
}

// similar counts the neighbours, up to four on either side, with a row's indent and first word.
func (t *text) similar(r int) (n int) {
	if t.first[r] == t.first[r+1] {
		return 0
	}
	word := t.terms[t.first[r]]
	for _, step := range [2]int{-1, 1} {
		for d := 1; d <= 4; d++ {
			o := r + step*d
			if o < 0 || o >= t.rows() || t.indent[o] != t.indent[r] || t.first[o] == t.first[o+1] || t.terms[t.first[o]] != word {
				break
			}
			n++
		}
	}
	return n
}

// nameGroups finds the headers that define what the goal names.
func (t *text) nameGroups(groups []group, of []uint32, m *matches) {
	if t.source != Code {
		return
	}
	for r := range of {
		if t.kind[r]&isStructure == 0 || t.kind[r]&isImport != 0 {
			continue
		}
		g := &groups[of[r]]
		if id := t.definedBy(r); id != unknown {
			if n := m.number[id]; n != 0 && m.exact[n] > 0 {
				g.named = m.termWeight[m.term[n]]
			}
		}
		if g.up > 0 {
			g.named = max(g.named, float32(.5*groups[g.up].named))
		}
	}
}
