package prune

import (
	"slices"
	"strings"
)

// readDocs finds the headings of a document, its sections, and its fenced blocks and tables, which
// go or stay whole.
func (t *text) readDocs(s *shape) {
	t.findUnits(s)
	t.nestHeadings(s, t.headingLevel)
}

// nestHeadings puts each row under the headings above it, and makes a block of each section. A part
// of a unit is no heading.
func (t *text) nestHeadings(s *shape, levelOf func(r int) uint8) {
	n := t.rows()
	s.parent = make([]int32, n)
	s.depth = make([]uint8, n)
	s.blocks = append(s.blocks[:0], 0)
	type open struct {
		level uint8
		row   int32
	}
	var stack []open
	next := 0 // index of the next unit
	for r := range n {
		line := int(t.line[r])
		for next < len(s.units) && s.units[next].last < line {
			next++
		}
		level := uint8(0)
		if next < len(s.units) && s.units[next].first <= line {
			t.kind[r] |= isFenced
		} else if level = levelOf(r); level > 0 {
			t.kind[r] |= isHeading | isStructure
			for len(stack) > 0 && stack[len(stack)-1].level >= level {
				stack = stack[:len(stack)-1]
			}
			if r > 0 {
				s.blocks = append(s.blocks, uint32(r))
			}
		}
		s.parent[r] = -1
		if len(stack) > 0 {
			s.parent[r] = stack[len(stack)-1].row
		}
		s.depth[r] = uint8(min(255, len(stack)))
		if level > 0 {
			stack = append(stack, open{level, int32(r)})
		}
	}
}

// joinUnits sorts units and merges those that share a line.
func joinUnits(units []unit) (out []unit) {
	slices.SortFunc(units, func(a, b unit) int { return a.first - b.first })
	for _, u := range units {
		if n := len(out); n > 0 && out[n-1].last >= u.first {
			out[n-1].last = max(out[n-1].last, u.last)
			continue
		}
		out = append(out, u)
	}
	return out
}

// headingLevel returns the level of a heading; 0: other rows. It knows "# x", "== x", <h1>, and a
// line underlined with a run of one sign.
func (t *text) headingLevel(r int) uint8 {
	if t.indent[r] > 3 {
		return 0
	}
	line := t.row(r)
	switch line[0] {
	case '#', '=':
		n := 0
		for n < len(line) && line[n] == line[0] {
			n++
		}
		if n <= 6 && n < len(line) && (line[n] == ' ' || line[n] == '\t') {
			return uint8(n)
		}
	case '<':
		if len(line) > 3 && (line[1] == 'h' || line[1] == 'H') && line[2] >= '1' && line[2] <= '6' && (line[3] == '>' || line[3] == ' ') {
			return line[2] - '0'
		}
	}
	if r+1 < t.rows() && t.line[r+1] == t.line[r]+1 && (r == 0 || t.line[r]-t.line[r-1] > 1) && t.indent[r] == 0 && t.indent[r+1] == 0 {
		if level := underline(t.row(r + 1)); level > 0 && classes[line[0]] != sepClass {
			return level
		}
	}
	return 0
}

// underline returns the level of a heading with this underline; 0: not an underline.
func underline(line string) uint8 {
	if len(line) < 3 {
		return 0
	}
	level := strings.IndexByte("=-~^\"", line[0]) + 1
	if strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return uint8(level) //nolint:gosec // at most 5
}

// longTable is the number of rows above which a table counts as a list of rows. It need not stay or
// go whole.
const longTable = 100

// findUnits finds fenced blocks and tables.
func (t *text) findUnits(s *shape) {
	fence, opened := "", -1
	table, ruled := -1, false
	html, lastTable := -1, -1
	if strings.Contains(t.src, "<table") {
		lastTable = strings.LastIndex(t.src, "</table>")
	}
	closeTable := func(before int) {
		if table >= 0 && before-table >= 2 && before-table <= longTable && ruled {
			s.units = append(s.units, unit{table, before - 1})
		}
		table, ruled = -1, false
	}
	for r := range t.rows() {
		n, line := int(t.line[r]), t.row(r)
		mark := fenceMark(line)
		switch {
		case opened >= 0:
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && mark == line && t.indent[r] <= 12 {
				s.units = append(s.units, unit{opened, n})
				opened = -1
			}
			continue
		case html >= 0:
			if strings.Contains(line, "</table>") {
				s.units = append(s.units, unit{html, n})
				html = -1
			}
			continue
		case mark != "" && t.indent[r] <= 12:
			closeTable(n)
			fence, opened = mark, n
			continue
		case strings.HasPrefix(line, "<table") && t.lines.start(n+1) < lastTable && !strings.Contains(line, "</table>"):
			closeTable(n)
			html = n
			continue
		}
		isRow := isTableRow(line)
		if table >= 0 && (!isRow || t.line[r]-t.line[r-1] > 1) {
			closeTable(int(t.line[r-1]) + 1)
		}
		if isRow {
			if table < 0 {
				table = n
			}
			ruled = ruled || isTableRule(line)
		}
	}
	last := t.lines.Len()
	if t.rows() > 0 {
		closeTable(int(t.line[t.rows()-1]) + 1)
	}
	if opened >= 0 { // an unclosed one extends to the end
		s.units = append(s.units, unit{opened, last - 1})
	}
}

// fenceMark returns the backticks or tildes at the start of a line; "": not a fence.
func fenceMark(line string) string {
	if line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 {
		return ""
	}
	return line[:n]
}

func isTableRow(line string) bool {
	return line[0] == '|' || line[0] == '+' && strings.HasPrefix(line, "+-") ||
		strings.IndexByte(line, '|') >= 0 && strings.Contains(line, " | ")
}

// isTableRule reports whether a line is the rule under a table's head.
func isTableRule(line string) bool {
	return strings.Contains(line, "--") && strings.Trim(line, "|-:+= \t") == ""
}
