package prune

import "math"

// Scores returns a plan's ranking of the lines, for display: the higher, the likelier the goal
// needs the line. NaN marks a blank or repeated line, which is not ranked by itself. It returns nil
// if nothing is ranked.
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
