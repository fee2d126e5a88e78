package excerpt

import (
	"math"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// cutTree shortens a document that was checked. What is left is JSON without white space between its parts.
func (c *cutter) cutTree(t *tree, target int) string {
	doc, tables := t.doc, t.tables()
	at := levels{}
	if int(t.nodes[0].size) > target { // else white space alone was too much
		fits := func(l levels) bool { return c.expired() || t.decide(0, l, tables) <= target }
		both := lowest(lowestLevel, highestLevel, func(l float32) bool { return fits(levels{l, l}) })
		// A column is much at once: what its going leaves room for goes to records and members.
		at = levels{lowest(lowestLevel, math.Log2(float64(both)), func(l float32) bool { return fits(levels{l, both}) }), both}
	}
	t.decide(0, at, tables)
	w := treeWriter{tree: t, tables: tables, c: c}
	w.out = make([]byte, 0, min(len(doc), 2*target))
	w.value(0)
	return string(w.out)
}

// lowest is the lowest level between two powers of two that is good; the upper one is taken to be.
func lowest(low, high float64, good func(level float32) bool) float32 {
	for range levelSteps {
		middle := (low + high) / 2
		if good(float32(math.Exp2(middle))) {
			high = middle
		} else {
			low = middle
		}
	}
	return float32(math.Exp2(high))
}

// treeWriter writes what is left of a tree.
type treeWriter struct {
	*tree
	tables map[int32]*table
	c      *cutter
	out    []byte
	beside []string // markers for the object around the array that was written last
}

func (w *treeWriter) value(i int32) {
	n := &w.nodes[i]
	if n.isMember() {
		w.out = append(w.out, w.name(n)...)
		w.out = append(w.out, ':')
	}
	switch {
	case n.first == 0:
		w.compact(w.tree.value(n))
	case w.doc[n.start] == '{':
		w.object(n)
	case w.tables[i] != nil:
		w.table(w.tables[i])
	default:
		w.array(i, n)
	}
}

// compact writes a value without children.
func (w *treeWriter) compact(raw string) {
	if raw[0] == '{' || raw[0] == '[' { // empty
		raw = raw[:1] + raw[len(raw)-1:]
	}
	w.out = append(w.out, raw...)
}

// object writes the members that stay. One more tells of those that went.
func (w *treeWriter) object(n *node) {
	w.out = append(w.out, '{')
	isFirst := true
	var names []string
	var gone []byte
	for child := n.first; child != 0; child = w.nodes[child].next {
		c := &w.nodes[child]
		if c.cut {
			names = append(names, rawjson.Unquote([]byte(w.name(c))))
			gone = append(append(gone, ','), w.raw(c)...)
			continue
		}
		w.comma(&isFirst)
		w.value(child)
		for _, marker := range w.beside {
			w.comma(&isFirst)
			w.out = appendMark(w.out, marker, asMember)
		}
		w.beside = nil
	}
	if len(names) > 0 {
		w.gone(string(gone), prune.Mark{Unit: prune.InMembers, Names: few(names, len(gone)), Count: len(names)}, &isFirst, asMember)
	}
	w.out = append(w.out, '}')
}

// raw is a value with its name, as it came.
func (w *treeWriter) raw(n *node) string {
	if !n.isMember() {
		return w.doc[n.start:n.end]
	}
	return w.doc[n.nameStart:n.end]
}

func (w *treeWriter) comma(isFirst *bool) {
	if !*isFirst {
		w.out = append(w.out, ',')
	}
	*isFirst = false
}

// array writes the elements that stay, and one for each run that went.
func (w *treeWriter) array(i int32, n *node) {
	w.out = append(w.out, '[')
	isFirst, nth := true, 0
	form := asString
	if w.isObject(n.first) {
		form = asObject
	}
	if w.places[i] == mask.BesideArray {
		form = asMember
	}
	var beside []string
	for child := n.first; child != 0; {
		c := &w.nodes[child]
		if !c.cut {
			w.comma(&isFirst)
			w.value(child)
			nth++
			child = c.next
			continue
		}
		start, last := nth, child
		for ; child != 0 && w.nodes[child].cut; child = w.nodes[child].next {
			last = child
			nth++
		}
		gap := w.doc[c.start:w.nodes[last].end]
		m := prune.Mark{Unit: prune.InItems, Start: start + 1, End: nth}
		marker := w.c.mark(m)
		switch {
		case form != asMember:
			w.gone(gap, m, &isFirst, form)
		case w.c.saves(gap, marker):
			beside = append(beside, marker)
			w.c.told = true
		default:
			w.comma(&isFirst)
			w.out = append(w.out, gap...)
		}
	}
	w.out = append(w.out, ']')
	w.beside = beside
}

// table writes the records that stay without the columns that went, and one for each run that went.
func (w *treeWriter) table(tab *table) {
	w.out = append(w.out, '[')
	isFirst := true
	for i := 0; i < len(tab.rows); {
		if !tab.rows[i].cut {
			w.comma(&isFirst)
			w.record(tab, i)
			if i++; i == 1 && tab.cut > 0 {
				w.columns(tab, &isFirst)
			}
			continue
		}
		start := i
		for i < len(tab.rows) && tab.rows[i].cut {
			i++
		}
		gap := w.doc[w.nodes[tab.rows[start].node].start:w.nodes[tab.rows[i-1].node].end]
		w.gone(gap, prune.Mark{Unit: prune.InItems, Start: start + 1, End: i}, &isFirst, asObject)
	}
	w.out = append(w.out, ']')
}

// record writes a record; the first with all columns.
func (w *treeWriter) record(tab *table, i int) {
	w.out = append(w.out, '{')
	isFirst := true
	for cell := w.nodes[tab.rows[i].node].first; cell != 0; cell = w.nodes[cell].next {
		if i == 0 || !tab.columns[w.nodes[cell].column].cut {
			w.comma(&isFirst)
			w.value(cell)
		}
	}
	w.out = append(w.out, '}')
}

// columns tells, behind the first record, which members the others have lost.
func (w *treeWriter) columns(tab *table, isFirst *bool) {
	var names []string
	for i := range tab.columns {
		if c := &tab.columns[i]; c.cut {
			names = append(names, rawjson.Unquote([]byte(c.name)))
		}
	}
	m := prune.Mark{Unit: prune.InMembersOf, Start: 2, End: len(tab.rows), Names: names}
	w.comma(isFirst)
	w.out = appendMark(w.out, w.c.mark(m), asObject)
	w.c.told = true
}

// form is how a marker stands in a document.
type form int

const (
	asString form = iota // among values
	asObject             // among records: the marker is the only name
	asMember             // among members
)

// gone writes the marker of what went, or that itself where the marker has as many tokens.
func (w *treeWriter) gone(raw string, m prune.Mark, isFirst *bool, as form) {
	marker := w.c.mark(m)
	if !w.c.saves(raw, string(appendMark(nil, marker, as))) {
		w.comma(isFirst)
		w.out = append(w.out, strings.TrimPrefix(raw, ",")...)
		return
	}
	w.comma(isFirst)
	w.out = appendMark(w.out, marker, as)
	w.c.told = true
}

func appendMark(dst []byte, marker string, as form) []byte {
	if as == asObject {
		dst = append(dst, '{')
	}
	dst = rawjson.AppendQuoted(dst, marker)
	switch as {
	case asObject:
		return append(dst, ":null}"...)
	case asMember:
		return append(dst, ":null"...)
	}
	return dst
}

// few are the first names that take no more than an eighth of what they stand for.
func few(names []string, size int) []string {
	room := min(size/8, maxNames)
	for i, name := range names {
		if room -= len(name) + len(", "); room < 0 {
			return names[:i]
		}
	}
	return names
}

// maxNames is how many bytes of names a marker has at most.
const maxNames = 300
