package excerpt

import "secateur/internal/cut/mask"

// minRecords is how many objects make an array a table, and maxRecord how big they are at most on average.
const (
	minRecords = 4
	maxRecord  = 4000
)

// table is an array of records. Members that all of them have are its columns: one goes in all records but the first, or in none.
type table struct {
	columns []column
	rows    []record
	cut     int // columns that go
	rated   int // how many columns went when the records were rated; -1: never
}

// record is an element of a table, rated by the columns that stay.
type record struct {
	node  int32
	left  int // size without what goes
	score float32
	cut   bool
}

type column struct {
	name string
	said float32
	goal float32
	size int
	cut  bool
	tell bool // it tells the records apart
}

// tables finds the arrays of records, by their nodes.
func (t *tree) tables() map[int32]*table {
	found := map[int32]*table{}
	if t.places != nil { // columns have to stay
		return found
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.leaf || t.doc[n.start] != '[' || int(n.count) < minRecords || int(n.size/n.count) > maxRecord {
			continue
		}
		if tab := t.tableOf(n); tab != nil {
			found[int32(i)] = tab
		}
	}
	return found
}

// tableOf sums up the columns of an array; nil where its elements are not all objects.
func (t *tree) tableOf(n *node) *table {
	tab, ids := &table{rows: make([]record, 0, n.count), rated: -1}, map[string]int32{}
	for row, nth := n.first, 0; row != 0; row, nth = t.nodes[row].next, nth+1 {
		r := &t.nodes[row]
		if t.doc[r.start] != '{' {
			return nil
		}
		tab.rows = append(tab.rows, record{node: row})
		place := -1
		for cell := r.first; cell != 0; cell = t.nodes[cell].next {
			c := &t.nodes[cell]
			name := t.name(c)
			place++
			id, ok := int32(place), place < len(tab.columns) && tab.columns[place].name == name
			if !ok { // most records have the members of the first in the same order
				id, ok = ids[name]
			}
			if !ok {
				id = int32(len(tab.columns)) //nolint:gosec // as in read
				ids[name] = id
				tab.columns = append(tab.columns, column{name: name})
			}
			c.column = id
			if nth > 0 {
				col := &tab.columns[id]
				col.said, col.size, col.goal = col.said+c.said, col.size+int(c.size)+1, max(col.goal, c.goal)
			}
		}
	}
	tab.identify(t, n)
	return tab
}

// identify finds the column that tells the records apart: the first whose values are short and nearly all different.
func (tab *table) identify(t *tree, n *node) {
	const most = 200 // records that are looked at
	for id := range tab.columns {
		values, rows, isShort := map[string]bool{}, 0, true
		for row := n.first; row != 0 && rows < most; row = t.nodes[row].next {
			rows++
			for cell := t.nodes[row].first; cell != 0; cell = t.nodes[cell].next {
				if c := &t.nodes[cell]; int(c.column) == id {
					values[t.value(c)] = true
					isShort = isShort && c.size <= shortValue
				}
			}
		}
		if isShort && 10*len(values) >= 9*rows {
			tab.columns[id].tell = true
			return
		}
	}
}

// shortValue is the size up to which a member can be the name of its record.
const shortValue = 120

// columnPart is how much less a column may say than a record for it to stay: without it no record is whole.
const columnPart = .4

// About how long markers are.
const (
	itemMark   = 44
	memberMark = 40
	minGap     = 24 // bytes that a cut saves at least beside its marker
)

// levels are how much records and members must count to stay, and columns.
type levels struct{ parts, columns float32 }

// decide cuts what counts less than the levels, and returns the size that is left. Parts that stay cost no marker.
func (t *tree) decide(i int32, at levels, tables map[int32]*table) int {
	n := &t.nodes[i]
	own := 2
	if n.isMember() {
		own += int(n.nameEnd-n.nameStart) + 1
	}
	switch {
	case n.leaf:
		return int(n.size)
	case t.doc[n.start] == '{':
		return own + t.decideObject(n, at, tables)
	}
	if tab := tables[i]; tab != nil {
		return own + t.decideTable(n, tab, at)
	}
	return own + t.decideList(n, at, tables, t.places == nil || t.places[i] != mask.NoPlace)
}

// decideObject cuts members.
func (t *tree) decideObject(n *node, at levels, tables map[int32]*table) (size int) {
	gone, place := 0, 0
	for child := n.first; child != 0; child = t.nodes[child].next {
		c := &t.nodes[child]
		c.cut = t.places == nil && t.falls(child, at.parts, float32(place)/float32(n.count))
		place++
		if c.cut {
			gone += int(c.size) + 1
			continue
		}
		size += 1 + t.decide(child, at, tables)
	}
	if gone == 0 {
		return size
	}
	if gone < memberMark+minGap {
		t.spare(n)
		return size + gone
	}
	return size + memberMark
}

// falls says whether nothing of a value counts as much as a level. Containers have to say it with all that is in them, the first
// element of an array stays with its array.
func (t *tree) falls(i int32, level, place float32) bool {
	n := &t.nodes[i]
	return t.score(n.said, n.goal, int(n.size), place) < level && (n.leaf || n.size < maxWhole)
}

// maxWhole is the size from which a container is not cut as a whole: what is in it decides.
const maxWhole = 2000

// spare has all children of a container stay that are cut.
func (t *tree) spare(n *node) {
	for child := n.first; child != 0; child = t.nodes[child].next {
		t.nodes[child].cut = false
	}
}

// decideList cuts elements, if they may go.
func (t *tree) decideList(n *node, at levels, tables map[int32]*table, free bool) (size int) {
	place := 0
	for child := n.first; child != 0; child = t.nodes[child].next {
		t.nodes[child].cut = free && place > 0 && t.falls(child, at.parts, float32(place)/float32(n.count))
		place++
	}
	t.joinRuns(n)
	in := false
	for child := n.first; child != 0; child = t.nodes[child].next {
		switch c := &t.nodes[child]; {
		case !c.cut:
			size += 1 + t.decide(child, at, tables)
			in = false
		case !in:
			size += itemMark
			in = true
		}
	}
	return size
}

// joinRuns has runs of cut elements stay that are not worth a marker.
func (t *tree) joinRuns(n *node) {
	for child := n.first; child != 0; {
		if !t.nodes[child].cut {
			child = t.nodes[child].next
			continue
		}
		start, size := child, 0
		for ; child != 0 && t.nodes[child].cut; child = t.nodes[child].next {
			size += int(t.nodes[child].size) + 1
		}
		if size < 2*itemMark+minGap {
			for i := start; i != child; i = t.nodes[i].next {
				t.nodes[i].cut = false
			}
		}
	}
}

// decideTable cuts columns, and then records by what is left in them.
func (t *tree) decideTable(n *node, tab *table, at levels) (size int) {
	tab.cut = 0
	gone := 0
	for i := range tab.columns {
		c := &tab.columns[i]
		rows := int(n.count) - 1
		c.cut = c.size > 0 && !c.tell && t.score(c.said/float32(rows), c.goal, c.size/rows, 1) < columnPart*at.columns
		if c.cut {
			tab.cut++
			gone += c.size
		}
	}
	if gone < memberMark+minGap || tab.cut == len(tab.columns) {
		tab.spareColumns()
	}
	t.rateRecords(tab)
	if tab.cut > 0 {
		size += memberMark
		for i := range tab.columns {
			if tab.columns[i].cut {
				size += len(tab.columns[i].name)
			}
		}
	}
	for i := 0; i < len(tab.rows); {
		run, gone := i, 0
		for ; i < len(tab.rows) && i > 0 && tab.rows[i].score < at.parts; i++ {
			gone += tab.rows[i].left + 1
		}
		isWorth := gone >= 2*itemMark+minGap
		for j := run; j < i; j++ {
			tab.rows[j].cut = isWorth
		}
		switch {
		case isWorth:
			size += itemMark
		case i > run:
			size += gone
		default:
			tab.rows[i].cut = false
			size += tab.rows[i].left + 1
			i++
		}
	}
	return size
}

// rateRecords rates the records by what is left in them. The first is whole.
func (t *tree) rateRecords(tab *table) {
	if tab.rated == tab.cut { // columns go by what they count: as many are the same ones
		return
	}
	tab.rated = tab.cut
	for i := range tab.rows {
		r := &tab.rows[i]
		said, goal := float32(0), float32(0)
		r.left = 2
		for cell := t.nodes[r.node].first; cell != 0; cell = t.nodes[cell].next {
			if c := &t.nodes[cell]; i == 0 || !tab.columns[c.column].cut {
				said, goal, r.left = said+c.said, max(goal, c.goal), r.left+int(c.size)+1
			}
		}
		r.score = t.score(said, goal, r.left, float32(i)/float32(len(tab.rows)))
	}
}

func (tab *table) spareColumns() {
	tab.cut = 0
	for i := range tab.columns {
		tab.columns[i].cut = false
	}
}

// Levels are looked for between these powers of two, in so many steps.
const (
	lowestLevel, highestLevel = -10, 10
	levelSteps                = 10
)
