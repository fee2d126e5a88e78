package prune

import (
	"cmp"
	"slices"
)

// addClear keeps the rows with everything that the goal names: the ratio is a maximum, not a
// target. In a document, a long fenced block or table may have that in one row by chance. It does
// not stay for that if it takes more than half of the lines that must stay.
func (c *chooser) addClear(order []uint32, least int) {
	if c.clear == nil {
		return
	}
	for _, r := range order {
		if c.clear[r] && (c.source != Docs || c.cost(int(r)) <= max(1, least/2)) {
			c.addLine(int(c.line[r]))
		}
	}
}

// tidy keeps lines that are not worth a cut, and gives up the weakest islands in exchange. About
// target lines stay.
func (c *chooser) tidy(score []float32, target int) {
	before := slices.Clone(c.set)
	count := c.count
	islands := c.islands(score)
	try := func(without int) {
		copy(c.set, before)
		c.count = count
		for _, x := range islands[:without] {
			for line := x.first; line <= x.last; line++ {
				c.remove(line)
			}
		}
		c.addSlivers()
	}
	try(0)
	if c.count <= target || c.toll == 0 {
		return
	}
	// Giving up more nearly always leaves fewer lines. So count after each step, and use the last
	// good one.
	low, high := 0, len(islands)+1
	for high-low > 1 {
		middle := (low + high) / 2
		if try(middle); c.count >= target {
			low = middle
		} else {
			high = middle
		}
	}
	try(low)
}

// island is a short run of kept lines between two cuts.
type island struct {
	unit
	best float32 // score of its best row
}

// islands returns the runs that may be given up, weakest first.
func (c *chooser) islands(score []float32) (out []island) {
	n := c.lines.Len()
	row := 0
	for from := 0; from < n; {
		first := c.find(from, n, true)
		if first >= n {
			break
		}
		last := c.find(first, n, false) - 1
		from = last + 1
		for row < c.rows() && int(c.line[row]) < first {
			row++
		}
		x := island{unit: unit{first, last}}
		free := first > 0 && last < n-1 && c.lines.start(last+2)-c.lines.start(first+1) <= 2*c.toll
		for line := first; free && line <= last; line++ {
			free = !c.locked.has(line)
		}
		encloses := int32(0)
		for ; row < c.rows() && int(c.line[row]) <= last; row++ {
			x.best = max(x.best, score[row])
			encloses = max(encloses, c.until[row])
		}
		free = free && int(encloses) < row
		if free {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b island) int { return cmp.Compare(a.best, b.best) })
	return out
}

// addSlivers keeps gaps that are not worth a cut: blank lines, and what is smaller than its marker.
func (c *chooser) addSlivers() {
	n := c.lines.Len()
	for from := 0; ; {
		first, last, ok := c.nextGap(from, n)
		if !ok {
			return
		}
		blank := last-first < sliverBlank && c.isBlank(first) && c.isBlank(last)
		if blank || c.lines.start(last+2)-c.lines.start(first+1) <= c.toll {
			for line := first; line <= last; line++ {
				c.addLine(line)
			}
		}
		from = last + 1
	}
}
