package prune

// chooser spends the budget.
type chooser struct {
	*text
	*shape
	*keep
	locked *keep   // lines that always stay
	until  []int32 // of each row: the last kept row that it encloses; 0: none
	toll   int     // bytes below which a cut is not worth its marker
}

// choose keeps the best rows, first in order, each with its enclosing rows, so that at most most
// lines go. It reports whether anything could go.
func (t *text) choose(s *shape, score []float32, order []uint32, req Request, most int) (kept *keep, free bool) {
	n := t.lines.Len()
	c := &chooser{text: t, shape: s, keep: newKeep(n), locked: newKeep(n), until: make([]int32, t.rows()), toll: t.toll(req.Marker)}
	if s.program {
		c.toll *= wholePieces
	}
	for _, p := range t.protected {
		for line := p.first; line <= p.last; line++ {
			c.addLine(line)
		}
	}
	for line, tool := range t.deco.frame {
		if tool {
			c.addLine(line)
		}
	}
	c.addForced(req)
	for _, u := range s.named {
		for line := u.first; line <= u.last; line++ {
			c.addLine(line)
		}
	}
	least := n - most
	if t.source == Logs && !req.Fill && !t.goal.asksWhy {
		c.addErrors(least)
	}
	target := max(least, 1)
	if req.Structure == All {
		target = min(n, max(target, c.count+(least+1)/2))
	}
	forced := c.count
	if !req.Fill && len(req.Prefer) != n {
		c.addClear(order, least)
	}
	matched := c.count > forced && forced < n
	copy(c.locked.set, c.set)
	extra := n / orientation
	for _, r := range order {
		if c.count >= target {
			break
		}
		if c.count >= least && c.count+c.cost(int(r)) >= n {
			break // something must go if something may
		}
		around := min(extra, c.addRow(int(r)))
		extra -= around
		target = min(n, target+around)
		if !req.Names { // a line that is merely near takes the room of a name
			c.bridge(int(r), target)
		}
	}
	if !req.Fill && c.hasChances(req) {
		target = max(target, c.addLikely(score, order, least, min(n-1, target+most/spareable)))
	}
	c.addBlank(max(least, 1))
	free = c.count < n || matched
	c.tidy(score, max(least, min(target, c.count)))
	return c.keep, free
}

// ranks gives rows falling scores in their order.
func ranks(order []uint32) []float32 {
	score := make([]float32, len(order))
	for i, r := range order {
		score[r] = float32(len(order) - i)
	}
	return score
}

const (
	// One line in this many may stay for orientation alone, beyond the budget: headers and blank
	// lines.
	orientation = 14
	bridgeRows  = 2  // rows between kept ones that are kept if a marker would cost as much, …
	bridgeBytes = 80 // and without markers, if they are no longer than this
	sliverBlank = 2  // blank lines that are not worth a cut
	// Least savings of a cut in code, in tolls, if lines count for names: people read pieces, not
	// lines.
	wholePieces = 4
)

// bridge keeps the few rows between row r and the nearest kept one. A cut there would cost more
// than it saves.
func (c *chooser) bridge(r, target int) {
	for _, step := range [2]int{-1, 1} {
		for d := 2; d <= bridgeRows+1; d++ {
			other := r + step*d
			if other < 0 || other >= c.rows() || !c.has(int(c.line[other])) {
				continue
			}
			lo, hi := min(r, other)+1, max(r, other)-1
			size := c.lines.start(int(c.line[hi])+2) - c.lines.start(int(c.line[lo])+1)
			if size > max(bridgeBytes, c.toll) || c.count+hi-lo+1 > target {
				break
			}
			for between := lo; between <= hi; between++ {
				c.addLine(int(c.line[between]))
			}
			break
		}
	}
}

func (c *chooser) isBlank(line int) bool {
	start, end := c.bounds(line)
	body, _ := skipSpace(c.src, start, end)
	return body == end
}

// addForced keeps the structural lines that stay regardless of their score.
func (c *chooser) addForced(req Request) {
	forced := isFileHead | isProtected
	if req.Structure == All {
		c.markWholeHead()
		forced |= isStructure
		if c.source == Logs {
			forced |= isError | isTrace
		}
	}
	for r, k := range c.kind {
		if k&forced == 0 || c.program && k&(isComment|isProtected) == isComment { // a licence
			continue
		}
		c.addRepeats(r)
		if c.source == Logs && k&isError != 0 { // with its neighbours
			if r > 0 {
				c.addLine(int(c.line[r-1]))
			}
			if r+1 < c.rows() {
				c.addLine(int(c.line[r+1]))
			}
		}
	}
}

// addRepeats keeps a row, and the lines after it that repeat it.
func (c *chooser) addRepeats(r int) {
	next := c.lines.Len()
	if r+1 < c.rows() {
		next = int(c.line[r+1])
	}
	c.addLine(int(c.line[r]))
	for line := int(c.line[r]) + 1; line < next; line++ {
		if !c.isBlank(line) {
			c.addLine(line)
		}
	}
}

// addRow keeps a row, its unit, its enclosing rows and the blank lines to kept neighbours. It
// returns how many lines it kept for orientation alone.
func (c *chooser) addRow(r int) (around int) {
	c.addLine(int(c.line[r]))
	for p := c.parent[r]; p >= 0; p = c.parent[p] {
		if c.staysAround(int(p)) {
			c.until[p] = max(c.until[p], int32(r)) //nolint:gosec // rows are fewer than MaxText
			if !c.has(int(c.line[p])) {
				c.addLine(int(c.line[p]))
				around++
			}
		}
	}
	return around + c.addBetween(r)
}

// addBetween keeps the blank lines between a row and its kept neighbours, and returns their number.
func (c *chooser) addBetween(r int) (lines int) {
	for _, lo := range [2]int{r - 1, r} {
		if lo < 0 || lo+1 >= c.rows() {
			continue
		}
		first, last := int(c.line[lo]), int(c.line[lo+1])
		if last-first < 2 || last-first > sliverBlank+1 || !c.has(first) || !c.has(last) {
			continue
		}
		for line := first + 1; line < last; line++ {
			if !c.has(line) {
				c.addLine(line)
				lines++
			}
		}
	}
	return lines
}

// staysAround reports whether a row is of a kind that is kept with what it encloses.
func (t *text) staysAround(r int) bool {
	return t.kind[r]&(isStructure|isHeading) != 0 && t.source != Logs
}

// cost returns how many lines addRow would add, without enclosing rows.
func (c *chooser) cost(r int) int {
	line := int(c.line[r])
	if c.has(line) {
		return 0
	}
	if i := c.unitAt(line); i >= 0 {
		return c.units[i].last - c.units[i].first + 1
	}
	return 1
}

// addLine keeps a line, with its unit.
func (c *chooser) addLine(line int) {
	if c.has(line) {
		return
	}
	if i := c.unitAt(line); i >= 0 {
		for l := c.units[i].first; l <= c.units[i].last; l++ {
			c.add(l)
		}
		return
	}
	c.add(line)
}

// unitAt returns the unit with a line; -1: none.
func (c *chooser) unitAt(line int) int {
	lo, hi := 0, len(c.units)
	for lo < hi {
		if mid := (lo + hi) / 2; c.units[mid].last < line {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(c.units) && c.units[lo].first <= line {
		return lo
	}
	return -1
}

// addBlank keeps lines that are no rows until target is met, those between kept lines first.
func (c *chooser) addBlank(target int) {
	n := c.lines.Len()
	for from := 0; c.count < target; {
		first, last, ok := c.nextGap(from, n)
		if !ok {
			break
		}
		if last-first < 2 {
			for l := first; l <= last && c.count < target; l++ {
				c.addLine(l)
			}
		}
		from = last + 1
	}
	for line := c.find(0, n, false); line < n && c.count < target; line = c.find(line, n, false) {
		c.addLine(line)
	}
}
