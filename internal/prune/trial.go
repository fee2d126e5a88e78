package prune

import (
	"slices"
	"sync"
)

// Trial is a text measured once, for training and evaluating models.
type Trial struct {
	Fixed bool // keep no line beyond the budget for its chance

	t      *text
	s      *shape
	marker func(Block) string
}

// TrialTree is a tree of a model under test. Features are numbers in the order of [FeatureNames].
type TrialTree struct {
	Feature [treeDepth]int
	Above   [treeDepth]float32
	Leaf    [1 << treeDepth]float32
}

// TryModel uses another model for texts of a source type until undo is called. No concurrent
// planning is allowed meanwhile.
func TryModel(source Source, trees []TrialTree) (undo func()) {
	m := make(model, len(trees))
	for i, t := range trees {
		m[i].leaf = t.Leaf
		for j := range t.Feature {
			m[i].ask[j] = question{feature(t.Feature[j]), t.Above[j]} //nolint:gosec // features are few
		}
	}
	of := map[Source]*func() *scorer{Code: &codeScorer, Docs: &docsScorer, Logs: &logsScorer}[source]
	was := *of
	*of = sync.OnceValue(m.ready)
	return func() { *of = was }
}

// NewTrial measures the text of a request.
func NewTrial(req Request) *Trial {
	t, ok := readText(req, IndexLines(req.Text))
	if !ok {
		return nil
	}
	return &Trial{t: t, s: t.shape(), marker: req.Marker}
}

// Lines returns the line numbers, from 1, of the rows: the lines that are neither blank nor
// repeated.
func (x *Trial) Lines() []int {
	out := make([]int, x.t.rows())
	for r, line := range x.t.line {
		out[r] = int(line) + 1
	}
	return out
}

// Vectors returns the rows' features, in the order of [FeatureNames].
func (x *Trial) Vectors() [][]float32 {
	out := make([][]float32, 0, x.t.rows())
	x.t.measure(x.s, nil, func(rows []int, v *[lanes]vector) {
		for i := range rows {
			out = append(out, slices.Clone(v[i][:]))
		}
	})
	return out
}

// Chances returns the rows' relative chances for the given scores.
func (x *Trial) Chances(score []float32) []float32 {
	score = slices.Clone(score)
	x.t.scoreClosers(score)
	return x.t.settle(x.s, score)
}

// Plan is [Plan] with the given scores of rows.
func (x *Trial) Plan(score []float32, ratio float64, structure Structure) Result {
	lines := x.t.lines.Len()
	_, most := allowance(lines, ratio, 0)
	req := Request{Structure: structure, Marker: x.marker, fixed: x.Fixed}
	kinds := x.t.kind // All treats more of a file's head as structure
	x.t.kind = slices.Clone(kinds)
	defer func() { x.t.kind = kinds }()
	order, score := x.t.rank(x.s, x.Chances(score), req)
	k, _ := x.t.choose(x.s, score, order, req, most)
	res := Result{Lines: lines, Kept: lines, Blocks: x.t.worthwhile(x.t.cuts(x.s, k), x.marker)}
	for _, b := range res.Blocks {
		res.Kept -= b.Count()
	}
	return res
}
