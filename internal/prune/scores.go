package prune

import "math"

// Scores is how a plan ranks the lines, for a person to see: a number for each, the higher the likelier the goal needs it; NaN for a line that
// is not ranked by itself, a blank or a repeated one. It is nil where nothing is ranked.
func Scores(req Request) []float64 {
	lines := IndexLines(req.Text)
	if len(req.Text) > MaxText || IsBinary(req.Text) || lines.Len() == 0 {
		return nil
	}
	t, _, score, ok := examine(req, lines)
	if !ok {
		return nil
	}
	all := make([]float64, lines.Len())
	for i := range all {
		all[i] = math.NaN()
	}
	for r, line := range t.line {
		all[line] = float64(score[r])
	}
	return all
}
