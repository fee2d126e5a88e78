package prune

// shape is the structure of a text: what encloses each row, which lines belong together, and its
// blocks.
type shape struct {
	parent []int32  // of each row: the nearest row that encloses it; -1: none
	depth  []uint8  // of each row: how many enclose it, or a heading's level
	blocks []uint32 // first row of each block; the first is 0
	units  []unit   // runs of lines that may not be split, in order

	program bool   // the text is one, and lines count for names, too
	named   []unit // lines that stay: of a program the definitions that the goal names, else failing tests with their reasons
}

// unit is a run of lines that goes or stays as one.
type unit struct {
	first, last int // line numbers from 0, inclusive
}

// enclose fills parent and depth from the rows' indents: a row is enclosed by the nearest row above
// with less indent. Comments, directives and labels enclose nothing; a closing row belongs to the
// row it closes.
func (t *text) enclose(s *shape) {
	type open struct {
		indent uint16
		row    int32
	}
	var stack []open
	s.parent = make([]int32, t.rows())
	s.depth = make([]uint8, t.rows())
	for r := range t.rows() {
		k, in := t.kind[r], t.indent[r]
		if k&isDirective == 0 {
			for len(stack) > 0 && (stack[len(stack)-1].indent > in || stack[len(stack)-1].indent == in && k&isClosing == 0) {
				stack = stack[:len(stack)-1]
			}
		}
		s.parent[r] = -1
		if len(stack) > 0 {
			s.parent[r] = stack[len(stack)-1].row
		}
		s.depth[r] = uint8(min(255, len(stack)))
		if k&(isComment|isDirective|isClosing|isDecorator) == 0 {
			stack = append(stack, open{in, int32(r)})
		}
	}
}

// splitCode fills the blocks of a program: it is split at the outermost indent first, and long
// parts at the next one.
func (t *text) splitCode(s *shape) {
	s.blocks = append(s.blocks[:0], 0)
	if t.rows() > 0 {
		t.splitAt(s, 0, t.rows(), 0)
	}
}

const (
	longBlock  = 60 // lines; longer blocks are split again
	deepest    = 4  // number of indents considered
	shortBlock = 3  // lines; the minimum before the next block may begin
)

// splitAt splits rows lo … hi-1 at the level-th smallest indent among them. It appends the starts
// of all blocks but the first.
func (t *text) splitAt(s *shape, lo, hi, level int) {
	span := func(a, b int) int { return int(t.line[b-1]-t.line[a]) + 1 }
	if span(lo, hi) <= longBlock || level > deepest {
		return
	}
	base, deeper, ok := t.indentAt(lo, hi, level)
	if !ok {
		return
	}
	from := lo
	for r := lo + 1; r <= hi; r++ {
		if r < hi && (!t.beginsBlock(r, hi, base) || t.line[r]-t.line[from] < shortBlock) {
			continue
		}
		if from > lo {
			s.blocks = append(s.blocks, uint32(from)) //nolint:gosec // rows are fewer than MaxText
		}
		if span(from, r) > longBlock && (from > lo || r < hi || deeper) {
			t.splitAt(s, from, r, level+1)
		}
		from = r
	}
}

// indentAt finds the level-th smallest indent of rows lo … hi-1, and whether a larger one exists.
func (t *text) indentAt(lo, hi, level int) (indent uint16, deeper, ok bool) {
	var seen [4]uint64
	for r := lo; r < hi; r++ {
		in := min(t.indent[r], 255)
		seen[in/64] |= 1 << (in % 64)
	}
	for in := range uint16(256) {
		if seen[in/64]&(1<<(in%64)) == 0 {
			continue
		}
		if ok {
			return indent, true, true
		}
		if level == 0 {
			indent, ok = in, true
		}
		level--
	}
	return indent, false, ok
}

// beginsBlock reports whether row r begins a block at indent base. It has that indent, opens or
// follows something deeper or blank, and has no comment before it that belongs to it.
func (t *text) beginsBlock(r, hi int, base uint16) bool {
	if t.indent[r] != base || t.kind[r]&isClosing != 0 {
		return false
	}
	prev := r - 1
	blank := t.line[r]-t.line[prev] > 1
	const leads = isComment | isDecorator
	if !blank && t.kind[prev]&leads != 0 && t.indent[prev] == base {
		return false
	}
	if blank || t.indent[prev] > base || t.kind[prev]&isClosing != 0 {
		return true
	}
	for next := r + 1; next < min(r+3, hi) && t.line[next]-t.line[r] < 3; next++ {
		if t.indent[next] > base {
			return true
		}
	}
	return false
}

// splitEvenly fills the blocks of a log: fixed numbers of lines.
func (t *text) splitEvenly(s *shape) {
	const pack = 20
	for r := range t.rows() {
		if r == 0 || t.line[r]/pack != t.line[r-1]/pack {
			s.blocks = append(s.blocks, uint32(r))
		}
	}
	if len(s.blocks) == 0 {
		s.blocks = append(s.blocks, 0)
	}
}
