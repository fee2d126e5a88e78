package prune

import "strings"

// readKeyed finds the shape of a text of keys and values: JSON, YAML, TOML, a directory tree. A
// line that opens something is structure, and is kept with what it encloses.
func (t *text) readKeyed(s *shape) {
	section := int32(-1)
	var sections []int32 // per row: its TOML section
	for r := range t.rows() {
		line := t.row(r)
		switch t.form {
		case YAML:
			if line[0] == '#' {
				t.kind[r] |= isComment
			}
			// An item may be at its key's own indent.
			if strings.HasPrefix(line, "- ") || line == "-" {
				t.indent[r]++
			}
		case TOML:
			if line[0] == '#' || line[0] == ';' {
				t.kind[r] |= isComment
			} else if line[0] == '[' && strings.HasSuffix(line, "]") && t.indent[r] == 0 {
				section = int32(r)
				t.kind[r] |= isStructure
			}
			sections = append(sections, section)
		case Listing:
			t.indent[r] = treeIndent(line, t.indent[r])
			if strings.HasSuffix(line, ":") && isPath(line) {
				t.kind[r] |= isStructure
				section = int32(r)
			}
			sections = append(sections, section)
		default:
			if line[0] == '}' || line[0] == ']' {
				t.kind[r] |= isClosing
			}
		}
	}
	for r := 0; r+1 < t.rows(); r++ {
		if t.indent[r+1] > t.indent[r] && t.kind[r]&(isComment|isClosing) == 0 {
			t.kind[r] |= isStructure
		}
	}
	t.enclose(s)
	for r := range sections {
		if own := sections[r]; s.parent[r] < 0 && own >= 0 && int(own) != r {
			s.parent[r] = own
		}
	}
	t.splitCode(s)
	if t.form == JSON {
		t.smallElements(s)
	}
}

// treeIndent returns the depth of a line of the tree command; other lines keep their indent.
func treeIndent(line string, indent uint16) uint16 {
	before, _, ok := strings.Cut(line, "── ")
	if !ok {
		return indent
	}
	columns := indent
	for _, c := range before {
		if c != '\u00a0' || columns > 1<<14 {
			columns++
		}
	}
	return columns
}

// smallElement is the number of lines up to which an element or a member goes or stays whole.
const smallElement = 8

// smallElements makes units of small objects and arrays.
func (t *text) smallElements(s *shape) {
	for r := 0; r < t.rows(); r++ {
		line := t.row(r)
		if last := line[len(line)-1]; last != '{' && last != '[' {
			continue
		}
		for end := r + 1; end < min(t.rows(), r+smallElement); end++ {
			if t.indent[end] > t.indent[r] {
				if last := t.row(end); strings.HasSuffix(last, "{") || strings.HasSuffix(last, "[") {
					break // something larger begins in it
				}
				continue
			}
			if t.indent[end] == t.indent[r] && t.kind[end]&isClosing != 0 {
				s.units = append(s.units, unit{int(t.line[r]), int(t.line[end])})
				r = end
			}
			break
		}
	}
}

// readDiff finds files and hunks. A hunk goes or stays whole, unless it is long, and stays with the
// lines that name its file.
func (t *text) readDiff(s *shape) {
	const longHunk = 80
	n := t.rows()
	s.parent, s.depth = make([]int32, n), make([]uint8, n)
	s.blocks = append(s.blocks, 0)
	file, hunk := int32(-1), int32(-1)
	closeHunk := func(end int) {
		if hunk < 0 || end == 0 {
			return
		}
		if first, last := int(t.line[hunk]), int(t.line[end-1]); last-first < longHunk {
			s.units = append(s.units, unit{first, last})
		}
	}
	begin := func(r int) {
		if r > 0 && int(s.blocks[len(s.blocks)-1]) != r {
			s.blocks = append(s.blocks, uint32(r)) //nolint:gosec // rows are fewer than MaxText
		}
	}
	for r := range n {
		line := t.row(r)
		head := int(t.deco.skip[t.line[r]]) == 0
		at := int32(r)
		switch {
		case head && strings.HasPrefix(line, "@@"):
			closeHunk(r)
			begin(r)
			hunk = at
			t.kind[r] |= isStructure
			s.parent[r], s.depth[r] = file, 1
		case head && (strings.HasPrefix(line, "diff ") || hunk >= 0 && strings.HasPrefix(line, "--- ")):
			closeHunk(r)
			begin(r)
			file, hunk = at, -1
			t.kind[r] |= isStructure
			s.parent[r] = -1
		case head && hunk < 0:
			if file < 0 || strings.HasPrefix(line, "+++ ") {
				s.parent[r] = file
				file = at
			} else {
				s.parent[r] = file
			}
			t.kind[r] |= isStructure
		default:
			s.parent[r], s.depth[r] = max(hunk, file), 2
		}
	}
	closeHunk(n)
}

// readHits finds the files of matches. A match is under the line that names its file, and the
// matches of a file are a block.
func (t *text) readHits(s *shape) {
	n := t.rows()
	s.parent, s.depth = make([]int32, n), make([]uint8, n)
	s.blocks = append(s.blocks, 0)
	file := int32(-1)
	name := ""
	for r := range n {
		s.parent[r] = file
		if t.deco.skip[t.line[r]] == 0 && isPath(t.row(r)) {
			file = int32(r)
			t.kind[r] |= isStructure
			s.parent[r] = -1
		}
		whole := t.lines.Line(int(t.line[r]) + 1)
		own := whole[:t.deco.skip[t.line[r]]]
		if i := strings.IndexAny(own, ":"); i > 0 {
			own = own[:i]
		} else {
			own = name // context of the matches before
		}
		if r > 0 && (own != name || file == int32(r)) {
			s.blocks = append(s.blocks, uint32(r))
		}
		name = own
	}
}
