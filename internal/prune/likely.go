package prune

import "math"

const (
	likely    = .47 // what a row is worth that stays on top of a budget of half of the text or more, beside the mean row
	spareable = 4   // of what may go one line in so many may stay on top of the budget
)

// hasChances says whether the rows' scores are the chances that a model gives: not where names or a reranker count too, and not in
// texts of a kind or length that no model was fitted to.
func (t *text) hasChances(req Request) bool {
	return !req.fixed && !req.Names && len(req.Prefer) != t.lines.Len() && t.form == Plain && t.lines.Len() >= shortText
}

// addLikely keeps rows on top of the budget, which is least lines, up to limit lines, and says how many lines stay then. On projects
// that the models were not fitted to, too, rows hold as large a share of what the goal needs as of the chances; so it can be told what
// one more is worth, and the same worth is asked of every text: one with many rows that the goal may well need keeps more of them than
// one where a few stand out. The less of the text has to stay, the more a row has to be worth, where that is less than half.
func (c *chooser) addLikely(chance []float32, order []uint32, least, limit int) int {
	sum := float32(0)
	for _, x := range chance {
		sum += x
	}
	times := max(1, float64(c.lines.Len())/float64(2*max(1, least))) // what half of the text is of the budget
	worth := float32(likely * math.Sqrt(times*math.Sqrt(times)))     // to the power of three quarters
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
