package prune

import "strings"

// errorRows are the rows of a log that tell what went wrong, in order of need, one of each kind of message: the row that logs an error, the
// head of its stack trace and what was thrown; then what stands around them.
func (t *text) errorRows() []int {
	var core, around []int
	met := map[uint64]bool{}
	isNew := func(r int) bool {
		key := t.template(r)
		defer func() { met[key] = true }()
		return !met[key]
	}
	for r := 0; r < t.rows(); r++ {
		if t.kind[r]&isPassed != 0 {
			continue
		}
		if t.kind[r]&isTrace == 0 {
			if saysError(t.row(r)) && isNew(r) {
				core = append(core, r)
				around = append(around, r-1, r+1)
			}
			continue
		}
		last := r
		for last+1 < t.rows() && t.kind[last+1]&isTrace != 0 {
			last++
		}
		thrown := r - 1
		if strings.HasPrefix(t.row(r), "Traceback") {
			thrown = last + 1
		}
		if thrown >= 0 && thrown < t.rows() && isNew(thrown) {
			core = append(core, r-1, r, thrown)
			around = append(around, last, last-1, r-2, last+2)
		}
		r = max(last, thrown)
	}
	return append(core, around...)
}

// saysError says whether a row has the level of an error. The word alone is in many rows of a build.
func saysError(line string) bool {
	line = line[:min(len(line), 200)]
	for _, level := range [...]string{"ERROR", "FATAL", "CRITICAL", "SEVERE"} {
		if strings.Contains(line, level) {
			return true
		}
	}
	return false
}

// addErrors keeps rows of a log that tell of errors, whatever the goal is. They take half of the lines that have to stay at most.
func (c *chooser) addErrors(least int) {
	most := c.count + least/2
	for _, r := range c.errorRows() {
		if c.count >= most {
			return
		}
		if r >= 0 && r < c.rows() {
			c.addLine(int(c.line[r]))
		}
	}
}
