package prune

import (
	"container/heap"
	"slices"
)

// coverOrder orders rows if the next request is unknown and a name is enough to ask: a greedy
// weighted set cover. Each row counts for its own chance and for its new names, relative to its
// cost. New names are those that no earlier row in this order has. A name counts more if the goal
// likely needs a row with it. A row brings the headers around it, and their names. known reports
// whether the reader already has a name; nil: none.
func (t *text) coverOrder(s *shape, chance []float32, known func(name string) bool) []uint32 {
	c := &cover{text: t, chance: chance, taken: make([]bool, t.rows()), around: aroundRow}
	if s.program {
		c.around, c.chance = aroundCode, t.lessTalk(chance)
	}
	c.findNames(known)
	c.rows = make([]coverRow, t.rows())
	for r := range c.rows {
		c.rows[r] = coverRow{uint32(r), c.density(r)}
	}
	heap.Init(c)
	order := make([]uint32, 0, t.rows())
	for len(c.rows) > 0 {
		top := &c.rows[0]
		r := int(top.row)
		if now := c.density(r); now < top.density { // some of its names are taken by now
			top.density = now
			heap.Fix(c, 0)
			continue
		}
		order = append(order, top.row)
		c.take(r)
		for p := s.parent[r]; p >= 0; p = s.parent[p] {
			if t.staysAround(int(p)) {
				if c.taken[p] { // and so are those around it
					break
				}
				c.take(int(p))
			}
		}
		heap.Pop(c)
	}
	return order
}

// Weights found by experiment. The more a row's own chance counts, the more of what the goal needs
// stays, and the fewer names.
const (
	everyName  = .0025 // value of a name, …
	likelyName = 2     // and how much more if the goal needs a row with it
	ownChance  = .6    // value of a row that the goal needs, without names
	aroundRow  = 60    // additional cost of a row in bytes: a marker may be on either side
	aroundCode = 150   // the same in code, where single rows are of little use
	// Value of a comment or an import relative to other code: neither is edited next.
	talk = .2
)

// lessTalk lowers the chances of comments, including a licence, and of imports.
func (t *text) lessTalk(chance []float32) []float32 {
	chance = slices.Clone(chance)
	for r, k := range t.kind {
		if k&(isComment|isImport) != 0 {
			chance[r] *= talk
		}
	}
	return chance
}

// cover is a heap of rows, densest on top.
type cover struct {
	*text
	rows   []coverRow
	chance []float32
	around float32   // additional cost of a row in bytes
	taken  []bool    // of each row: it stays
	first  []uint32  // of each row: start of its names in names; one more at the end
	names  []uint32  // name numbers
	worth  []float32 // of each name, until a row has taken it
}

type coverRow struct {
	row     uint32
	density float32
}

func (c *cover) namesOf(r int) []uint32 { return c.names[c.first[r]:c.first[r+1]] }

// take notes that row r stays: its names are worth nothing more.
func (c *cover) take(r int) {
	c.taken[r] = true
	for _, id := range c.namesOf(r) {
		c.worth[id] = 0
	}
}

// findNames numbers the names of the text that are not known.
func (c *cover) findNames(known func(name string) bool) {
	const none = ^uint32(0)
	number := map[uint64]uint32{}
	for r := range c.text.rows() {
		c.first = append(c.first, uint32(len(c.names))) //nolint:gosec // fewer than bytes
		eachName(c.row(r), func(name string) {
			h := hashWhole(name)
			id, ok := number[h]
			if !ok {
				id = none
				if known == nil || !known(name) {
					id = uint32(len(c.worth)) //nolint:gosec // fewer than bytes
					c.worth = append(c.worth, 0)
				}
				number[h] = id
			}
			if id == none {
				return
			}
			c.worth[id] = max(c.worth[id], everyName+float32(likelyName*c.chance[r]))
			c.names = append(c.names, id)
		})
	}
	c.first = append(c.first, uint32(len(c.names))) //nolint:gosec // fewer than bytes
}

// eachName finds distinctive words: at least six letters, digits or underscores, with a digit, an
// underscore or an inner capital, but no plain numbers or hashes.
func eachName(line string, use func(name string)) {
	for i := 0; i < len(line); {
		if !isNameByte(line[i]) {
			i++
			continue
		}
		start, digits, shaped := i, 0, false
		for ; i < len(line) && isNameByte(line[i]); i++ {
			switch class := classes[line[i]]; {
			case class == digitClass:
				digits++
				shaped = true
			case class == underClass, class == upperClass && i > start && classes[line[i-1]] == lowerClass:
				shaped = true
			case class == lowerClass && i > start+1 && classes[line[i-1]] == upperClass && classes[line[i-2]] == upperClass:
				shaped = true
			}
		}
		if n := i - start; shaped && n >= 6 && n <= 40 && 2*digits <= n {
			use(line[start:i])
		}
	}
}

func isNameByte(c byte) bool { return classes[c] != sepClass && classes[c] != wideClass }

// density returns a row's value divided by its cost: its bytes, and part of a marker.
func (c *cover) density(r int) float32 {
	gain := float32(ownChance * c.chance[r])
	for _, id := range c.namesOf(r) {
		gain += c.worth[id]
	}
	return gain / (float32(c.stop[r]-c.body[r]) + c.around)
}

func (c *cover) Len() int { return len(c.rows) }
func (c *cover) Less(i, j int) bool {
	a, b := c.rows[i], c.rows[j]
	return a.density > b.density || a.density == b.density && a.row < b.row
}
func (c *cover) Swap(i, j int) { c.rows[i], c.rows[j] = c.rows[j], c.rows[i] }
func (c *cover) Push(any)      {}
func (c *cover) Pop() any {
	c.rows = c.rows[:len(c.rows)-1]
	return nil
}
