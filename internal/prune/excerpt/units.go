package excerpt

import (
	"slices"
	"strings"

	"secateur/internal/prune"
)

// unit is what is kept or cut as one: a line, or a part of a long line.
type unit struct {
	start, end int     // bytes of the text
	score      float32 // how much it says for its length, and how near it is to the goal
	line       int     // from 1
	whole      bool    // it is its line
	keep       bool    // always
}

const (
	longLine = 300 // bytes; a longer line is cut in itself
	partSize = 200 // bytes of such a part, about
	// overhead is added to the length of a part, so that a short one does not win by its length alone.
	overhead = 50
)

// unitsOf takes a text apart.
func unitsOf(text string) (units []unit) {
	at := 0
	for line := 1; at < len(text); line++ {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if end-at <= longLine {
			units = append(units, unit{start: at, end: end, line: line, whole: true})
			at = end
			continue
		}
		for at < end {
			next := partEnd(text, at, end)
			units = append(units, unit{start: at, end: next, line: line})
			at = next
		}
	}
	return units
}

// partEnd is where a part of a long line ends: behind the best sign in its second half.
func partEnd(text string, at, end int) int {
	if end-at <= longLine {
		return end
	}
	part := text[at : at+partSize]
	for _, sign := range [...]string{". ", "; ", ", ", ",", "}", ">", " "} {
		if i := strings.LastIndex(part[partSize/2:], sign); i >= 0 {
			return at + partSize/2 + i + len(sign)
		}
	}
	next := at + partSize
	for next < end && text[next]&0xc0 == 0x80 { // within a character
		next++
	}
	return next
}

// rate gives each unit its score: 1 is that of the middle one, without what the goal adds.
func rate(text string, units []unit, goal wanted) {
	isTree := strings.Count(text[:min(len(text), 64<<10)], "[ref=") >= minRefs
	content := func(u unit) string { return text[u.start:u.end] }
	if isTree {
		content = func(u unit) string { return withoutAttributes(text[u.start:u.end]) }
	}
	words := newLexicon(goal)
	ends := make([]int, len(units))
	for i := range units {
		ends[i] = words.add(content(units[i]))
	}
	near := make([]float32, len(units))
	for i := range units {
		u := &units[i]
		u.score, near[i] = words.rate(ends[i], len(units))
		if isTree {
			u.score += actions[elementOf(text[u.start:u.end])]
		}
		u.score /= float32(u.end - u.start + overhead)
	}
	middle := middleScore(units)
	for i, bonus := range goal.spread(near) {
		units[i].score = units[i].score/middle + bonus
	}
}

func middleScore(units []unit) float32 {
	scores := make([]float32, len(units))
	for i := range units {
		scores[i] = units[i].score
	}
	slices.Sort(scores)
	for _, s := range scores[len(scores)/2:] {
		if s > 0 {
			return s
		}
	}
	return 1
}

// A snapshot of a page is a tree of elements with references: an agent acts on those that it can press or fill in.
const minRefs = 10

// actions are the elements that can be acted on, and what that counts.
var actions = map[string]float32{
	"button": 2, "textbox": 2, "checkbox": 2, "radio": 2, "combobox": 2, "option": 2, "tab": 2, "menuitem": 2, "searchbox": 2,
	"spinbutton": 2, "switch": 2, "slider": 2, "listbox": 2, "link": .8,
}

// elementOf is the kind of element that a line of a snapshot shows: "  - button "Send" [ref=e7]".
func elementOf(line string) string {
	line, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
	if !ok {
		return ""
	}
	line = strings.TrimPrefix(line, "<changed> ")
	end := 0
	for end < len(line) && classes[line[end]] == lower {
		end++
	}
	return line[:end]
}

// treeAttributes begin what a snapshot says of elements that is no content.
var treeAttributes = []string{"[ref=", "[cursor=", "[level=", "[active]", "[selected]"}

// withoutAttributes is a line of a snapshot with what it shows.
func withoutAttributes(line string) string {
	var out []byte
	at := 0
	for i := strings.IndexByte(line, '['); i >= 0; {
		isOne := slices.ContainsFunc(treeAttributes, func(a string) bool { return strings.HasPrefix(line[i:], a) })
		end := strings.IndexByte(line[i:], ']')
		if isOne && end >= 0 {
			out = append(out, line[at:i]...)
			at = i + end + 1
		}
		next := strings.IndexByte(line[i+1:], '[')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if at == 0 {
		return line
	}
	return string(append(out, line[at:]...))
}

// cutUnits keeps the best units of a text until the target is met.
func (c *cutter) cutUnits(text string, target int) string {
	units := unitsOf(text)
	rate(text, units, c.goal.words())
	if c.expired() {
		return text
	}
	protect(text, units)
	order := make([]int32, len(units))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &units[a], &units[b]
		switch {
		case x.keep != y.keep:
			if x.keep {
				return -1
			}
			return 1
		case x.score > y.score:
			return -1
		case x.score < y.score:
			return 1
		}
		return 0
	})
	stays := make([]bool, len(units))
	least, most := 0, len(units) // how many of the best fit
	for least < most {
		n := (least + most + 1) / 2
		choose(stays, order, n)
		if keptSize(units, stays) <= target {
			least = n
		} else {
			most = n - 1
		}
	}
	choose(stays, order, least)
	return c.writeUnits(text, units, stays)
}

func choose(stays []bool, order []int32, n int) {
	clear(stays)
	for _, i := range order[:n] {
		stays[i] = true
	}
}

// protect has the lines stay that make the rest readable: the first, which names a source or the columns, and headings.
func protect(text string, units []unit) {
	for i := range units[:min(2, len(units))] {
		units[i].keep = units[i].whole
	}
	if prune.FormOf(text) != prune.Plain {
		return
	}
	for i := range units {
		if u := &units[i]; u.whole && text[u.start] == '#' && i+1 < len(units) {
			u.score *= headingFactor
		}
	}
}

// headingFactor is how much more a heading counts than what it says.
const headingFactor = 1.5

// gapCost is about how long a marker is, and how much longer a cut must be.
const gapCost = 32

// keptSize is about how long the text is that is left.
func keptSize(units []unit, stays []bool) (size int) {
	for i := 0; i < len(units); {
		if stays[i] {
			size += units[i].end - units[i].start
			i++
			continue
		}
		gap := units[i].start
		for i < len(units) && !stays[i] {
			i++
		}
		size += min(gapCost, units[i-1].end-gap)
	}
	return size
}

// writeUnits gives what is left, with a marker for each run that went.
func (c *cutter) writeUnits(text string, units []unit, stays []bool) string {
	var b strings.Builder
	at := newPlaces(text)
	for i := 0; i < len(units); {
		first := i
		for i < len(units) && stays[i] == stays[first] {
			i++
		}
		start, end := units[first].start, units[i-1].end
		if stays[first] {
			b.WriteString(text[start:end])
			continue
		}
		c.writeGap(&b, text[start:end], at.mark(start, end, prune.Span{Start: units[first].line, End: units[i-1].line}))
	}
	return b.String()
}
