package prune

import "math/bits"

// group is a header and what it encloses, down to the next header.
type group struct {
	up       uint32 // the group above; 0: none
	rows     int32
	treeRows int32 // including the groups below
	whole    int32 // identifiers of the goal
	sum, top float32
	caller   float32 // best score among rows elsewhere that name what the header defines
	match    float32 // share of the header's words that the goal names
	above    float32 // the best such share above
	// Weight of the goal's names that the header defines, plus half of those above it.
	named float32

	// Terms of the goal, folded to 64 bits: in the rows, and also in the groups below,.
	seen, treeSeen      uint64
	headSeen, chainSeen uint64 // in the header, and also in those above it
}

func (g *group) mean() float32 { return g.sum / float32(g.rows+4) }

// groups aggregates the rows under every header, and returns the group of each row. Group 0 has the
// rows under no header.
func (t *text) groups(s *shape, m *matches, soft []float32) (list []group, of []uint32) {
	of = make([]uint32, t.rows())
	list = append(list, group{})
	for r := range of {
		if t.kind[r]&isStructure != 0 && t.kind[r]&isImport == 0 {
			of[r] = uint32(len(list)) //nolint:gosec // rows are fewer than MaxText
			list = append(list, t.newGroup(s, m, r, list, of))
		} else if p := s.parent[r]; p >= 0 {
			of[r] = of[p]
		}
		g := &list[of[r]]
		g.rows++
		g.sum += soft[r]
		g.top = max(g.top, soft[r])
		for _, n := range m.of(r) {
			g.seen |= m.bit[n]
			if m.whole[n] {
				g.whole++
			}
		}
	}
	for i := len(list) - 1; i > 0; i-- { // groups below come later
		g := &list[i]
		g.treeRows += g.rows
		g.treeSeen |= g.seen
		if g.up > 0 {
			list[g.up].treeRows += g.treeRows
			list[g.up].treeSeen |= g.treeSeen
		}
	}
	return list, of
}

// newGroup returns the group of header r.
func (t *text) newGroup(s *shape, m *matches, r int, list []group, of []uint32) group {
	g := group{}
	hits, words := 0, 0
	for _, n := range m.of(r) {
		if !m.whole[n] {
			hits++
		}
		g.headSeen |= m.bit[n]
	}
	for _, id := range t.termsOf(r) {
		if t.vocab.terms[id].size > 2 {
			words++
		}
	}
	g.match = min(1, float32(hits)/float32(max(1, words)))
	g.chainSeen = g.headSeen
	if p := t.header(s, r); p >= 0 {
		g.up = of[p]
		up := &list[g.up]
		g.above = max(up.match, up.above)
		g.chainSeen |= up.chainSeen
	}
	return g
}

// header returns the nearest header that encloses a row; -1: none.
func (t *text) header(s *shape, r int) int32 {
	p := s.parent[r]
	for steps := 0; p >= 0 && t.kind[p]&isStructure == 0; steps++ {
		if steps == 32 {
			return -1
		}
		p = s.parent[p]
	}
	return p
}

// coverOf returns the share of the goal that a row names.
func (m *matches) coverOf(r int) float32 {
	var seen uint64
	for _, n := range m.of(r) {
		seen |= m.bit[n]
	}
	return m.coverMask(seen)
}

// coverMask returns the share of the goal in a folded set of its terms.
func (m *matches) coverMask(seen uint64) float32 {
	sum := float32(0)
	for seen != 0 {
		i := bits.TrailingZeros64(seen)
		seen &= seen - 1
		sum += m.bitWeight[i]
	}
	return sum
}
