package prune

import "math"

const (
	// Least value of a row, relative to the mean, to stay beyond a budget of half of the text or
	// more.
	likely    = .47
	spareable = 4 // one in this many removable lines may stay beyond the budget
)

// hasChances reports whether the rows' scores are chances from a model. They are not if names or a
// reranker count too. Nor are they for a kind or length of text that no model was fitted to.
func (t *text) hasChances(req Request) bool {
	return !req.fixed && !req.Names && len(req.Prefer) != t.lines.Len() && t.form == Plain && t.lines.Len() >= shortText
}

// addLikely keeps rows beyond the budget of least lines, up to limit lines, and returns how many
// lines stay. A share of the chances covers the same share of what the goal needs, even on unseen
// projects. So the value of one more row is known, and every text uses the same threshold: a text
// with many likely rows keeps more of them than one where a few stand out. If less than half of the
// text has to stay, the threshold rises.
func (c *chooser) addLikely(chance []float32, order []uint32, least, limit int) int {
	sum := float32(0)
	for _, x := range chance {
		sum += x
	}
	// Half of the text relative to the budget.
	times := max(1, float64(c.lines.Len())/float64(2*max(1, least)))
	// To the power of three quarters.
	worth := float32(likely * math.Sqrt(times*math.Sqrt(times)))
	enough := float32(worth*sum) / float32(max(1, len(chance)))
	for _, r := range order {
		if chance[r] < enough || c.count >= limit {
			break
		}
		if c.has(int(c.line[r])) || c.count+c.cost(int(r)) > limit {
			continue
		}
		c.addRow(int(r))
		c.bridge(int(r), limit)
	}
	return c.count
}
