package prune

import (
	"slices"
	"strings"
)

// page is the readable part of an HTML document: the text outside of tags, comments, scripts,
// styles and navigation.
type page struct {
	first []uint32 // of each line: start of its spans in spans; one more at the end
	spans []span
	level []uint8 // of each line: the level of its heading; 0: none
	title int     // the line with the page's title; -1: none
	rows  []unit  // of tables, in order
	heads []int   // of each of these rows: the first row of its table
	whole []unit  // short tables, and preformatted text
}

// span is a part of the text.
type span struct{ from, to uint32 }

// hiddenElements hold what a reader of a page skips; the contents of the first few are not even
// text.
var hiddenElements = map[string]bool{
	"script": true, "style": true, "template": true, "svg": true, "noscript": true, "iframe": true,
	"nav": true, "footer": true, "aside": true, "select": true,
}

// isRaw reports whether an element's content has no tags.
func isRaw(element string) bool { return element == "script" || element == "style" }

// readPage reads a document line by line. An unclosed hiding element hides nothing.
func readPage(lines Lines, deco decoration) *page {
	n := lines.Len()
	p := &page{first: make([]uint32, 0, n+1), level: make([]uint8, n), title: -1}
	w := pageWalk{page: p, text: lines.text, table: -1, row: -1, pre: -1, head: -1, closed: map[string]int{}}
	for i := range n {
		p.first = append(p.first, uint32(len(p.spans))) //nolint:gosec // fewer than bytes
		w.line = i
		from := lines.start(i + 1)
		if deco.skip != nil {
			from += int(deco.skip[i])
		}
		w.walk(from, lines.start(i+2))
	}
	p.first = append(p.first, uint32(len(p.spans))) //nolint:gosec // fewer than bytes
	return p
}

// of returns the spans of a line, from 0.
func (p *page) of(line int) []span { return p.spans[p.first[line]:p.first[line+1]] }

// readable returns the text of a row without its tags.
func (t *text) readable(r int) string {
	var words []string
	for _, p := range t.page.of(int(t.line[r])) {
		words = append(words, t.src[p.from:p.to])
	}
	return strings.Join(words, " ")
}

// pageWalk is the state of a walk through a document.
type pageWalk struct {
	*page
	text string
	line int

	comment bool
	tag     bool   // inside of a tag that continues in the next line
	hidden  string // the element that hides the current place; "": none
	depth   int    // how often it is open
	closed  map[string]int

	heading         uint8 // level of the open heading
	inTitle         bool
	table, row, pre int // first lines of the open ones; -1: none
	head            int // the first row of the table; -1: none yet
}

// walk processes text[from:to].
func (w *pageWalk) walk(from, to int) {
	for at := from; at < to; {
		switch {
		case w.comment:
			at = w.skipPast("-->", at, to, &w.comment)
		case w.tag:
			at = w.endTag(at, to)
		case isRaw(w.hidden):
			end := strings.Index(w.text[at:to], "</"+w.hidden)
			if end < 0 {
				return
			}
			w.hidden = ""
			at = w.endTag(at+end, to)
		case strings.HasPrefix(w.text[at:to], "<!--"):
			w.comment = true
			at += len("<!--")
		case w.text[at] == '<' && at+1 < to && opensTag(w.text[at+1]):
			at = w.readTag(at, to)
		default:
			end := strings.IndexByte(w.text[at+1:to], '<')
			if end < 0 {
				end = to - at - 1
			}
			w.addText(at, at+1+end)
			at += 1 + end
		}
	}
}

func opensTag(c byte) bool {
	return c == '/' || c == '!' || c == '?' || classes[c] == lowerClass || classes[c] == upperClass
}

// skipPast skips past a sign, and clears the flag if it finds it.
func (w *pageWalk) skipPast(sign string, at, to int, flag *bool) int {
	end := strings.Index(w.text[at:to], sign)
	if end < 0 {
		return to
	}
	*flag = false
	return at + end + len(sign)
}

// endTag skips to the end of a tag, past quoted text.
func (w *pageWalk) endTag(at, to int) int {
	quote := byte(0)
	for ; at < to; at++ {
		switch c := w.text[at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			w.tag = false
			return at + 1
		}
	}
	w.tag = true
	return to
}

func (w *pageWalk) addText(from, to int) {
	if w.hidden != "" {
		return
	}
	body, _ := skipSpace(w.text, from, to)
	for to > body && (w.text[to-1] == '\n' || w.text[to-1] == '\r' || w.text[to-1] == ' ' || w.text[to-1] == '\t') {
		to--
	}
	if body >= to {
		return
	}
	w.spans = append(w.spans, span{uint32(body), uint32(to)}) //nolint:gosec // offsets are below MaxText
	if w.heading > 0 && w.level[w.line] == 0 {
		w.level[w.line] = w.heading
	}
	if w.inTitle && w.title < 0 {
		w.title = w.line
	}
}

// readTag reads the tag at an offset.
func (w *pageWalk) readTag(at, to int) int {
	name := at + 1
	closing := w.text[name] == '/'
	if closing {
		name++
	}
	end := name
	for end < to && (classes[w.text[end]] != sepClass || w.text[end] == '-') {
		end++
	}
	after := w.endTag(end, to)
	element := strings.ToLower(w.text[name:min(end, name+16)])
	if alone := after >= 2 && w.text[after-2] == '/'; !alone {
		w.enter(element, closing, at)
	}
	return after
}

// enter notes that an element opens or closes.
func (w *pageWalk) enter(element string, closing bool, at int) {
	switch {
	case w.hidden == element && closing:
		if w.depth--; w.depth == 0 {
			w.hidden = ""
		}
		return
	case w.hidden == element:
		w.depth++
		return
	case w.hidden != "":
		return
	case hiddenElements[element]:
		if !closing && w.closes(element) > at {
			w.hidden, w.depth = element, 1
		}
		return
	}
	switch element {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.heading = 0
		if !closing {
			w.heading = element[1] - '0'
		}
	case "title":
		w.inTitle = !closing
	case "table":
		w.closeWhole(w.table, closing, shortTable)
		w.table, w.head, w.row = -1, -1, -1
		if !closing {
			w.table = w.line
		}
	case "tr":
		w.closeRow()
		if !closing {
			w.row = w.line
		}
	case "pre":
		w.closeWhole(w.pre, closing, longPre)
		w.pre = -1
		if !closing {
			w.pre = w.line
		}
	}
}

const (
	shortTable = 12 // lines; the rows of a longer table go or stay one by one, …
	longRow    = 24 // and the lines of a longer row
	longPre    = 60
)

// closeWhole notes an element that closes here and is short enough to go or stay whole.
func (w *pageWalk) closeWhole(first int, closing bool, most int) {
	if closing && first >= 0 && w.line > first && w.line-first < most {
		w.whole = append(w.whole, unit{first, w.line})
	}
}

// closes returns where an element is closed last.
func (w *pageWalk) closes(element string) int {
	at, ok := w.closed[element]
	if !ok {
		at = strings.LastIndex(w.text, "</"+element)
		w.closed[element] = at
	}
	return at
}

// closeRow ends the open table row. Rows that share a line with the one before are merged with it.
func (w *pageWalk) closeRow() {
	if w.row < 0 {
		return
	}
	row := unit{w.row, w.line}
	w.row = -1
	if n := len(w.rows); n > 0 && w.rows[n-1].last >= row.first {
		w.rows[n-1].last = max(w.rows[n-1].last, row.last)
		return
	}
	if w.head < 0 {
		w.head = len(w.rows)
	}
	w.rows, w.heads = append(w.rows, row), append(w.heads, w.head)
}

// readHTML finds the headings of a page and their sections, the rows of its tables, and
// preformatted text. A table row goes or stays whole, and stays with its table's first row.
func (t *text) readHTML(s *shape) {
	units := slices.Clone(t.page.whole)
	for _, u := range t.page.rows {
		if u.last > u.first && u.last-u.first < longRow {
			units = append(units, u)
		}
	}
	s.units = joinUnits(units)
	t.nestHeadings(s, func(r int) uint8 {
		line := int(t.line[r])
		if len(t.page.of(line)) == 0 {
			t.kind[r] |= isBoilerplate
		}
		if line == t.page.title {
			t.kind[r] |= isFileHead
		}
		return t.page.level[line]
	})
	t.encloseTableRows(s)
}

// encloseTableRows puts the rows of a table under its first.
func (t *text) encloseTableRows(s *shape) {
	at := 0
	heads := make([]int32, len(t.page.rows)) // the first text row of each
	for i := range heads {
		heads[i] = -1
	}
	for r := range t.rows() {
		line := int(t.line[r])
		for at < len(t.page.rows) && t.page.rows[at].last < line {
			at++
		}
		if at == len(t.page.rows) {
			return
		}
		if t.page.rows[at].first > line || t.kind[r]&isHeading != 0 {
			continue
		}
		if heads[at] < 0 {
			heads[at] = int32(r)
		}
		if first := t.page.heads[at]; first != at && heads[first] >= 0 {
			s.parent[r] = heads[first]
			t.kind[heads[first]] |= isStructure
		}
	}
}
