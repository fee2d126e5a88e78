// Package fit fits the pruner's models to the evaluation cases, and judges them on projects they
// were not fitted to.
package fit

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
)

// Settings say how a model is grown.
type Settings struct {
	Trees, Depth   int
	Bins           int // borders per feature
	Rate, Lambda   float64
	Rows, Features float64 // share drawn for each tree
	Seed           uint64
}

// Chosen returns the settings of the built-in models, per set.
func Chosen(set string) Settings {
	s := Settings{Trees: 160, Depth: 5, Bins: 24, Rate: .09, Lambda: 10, Rows: .2, Features: .4, Seed: 1}
	switch set {
	case "docs":
		s.Trees, s.Rate, s.Lambda = 100, .13, 4
	case "logs":
		s.Trees, s.Rate, s.Lambda = 80, .13, 3
	}
	return s
}

// Marker returns the marker of a cut in every evaluation.
func Marker(b prune.Block) string { return prune.Marker("prn_R5JT960T52MN9N4FMKV3BW2QZ4", b) }

// Sample is a measured case.
type Sample struct {
	Case  *cases.Case
	Judge bool // models are judged on it; the others are only for fitting
	trial *prune.Trial
	first int // row of the table
	rows  int
	fold  int
}

// Data are the cases of one set.
type Data struct {
	Samples []*Sample
	table   *table
	borders [][]float32
	names   []string
}

// spared is how many rows without gold a case has for each fitted one. In a case for judging, that
// row stands for the others; in a derived case the others are dropped.
const spared = 3

// Measure measures every case of a course, without the features in drop.
func Measure(course []Lesson, bins int, drop []string) (*Data, error) {
	d := &Data{names: prune.FeatureNames(), table: &table{cases: len(course)}}
	rng := rand.New(rand.NewPCG(5, 11)) //nolint:gosec // the same rows every time
	var values [][]float32
	for i, l := range course {
		c := l.Case
		source, err := prune.ParseSource(c.SourceType)
		if err != nil {
			return nil, err
		}
		trial := prune.NewTrial(prune.Request{Text: c.Text, Goal: c.Goal, Source: source, Marker: Marker})
		s := &Sample{Case: c, Judge: l.Judge, trial: trial, first: len(values)}
		gold := map[int]bool{}
		for _, g := range c.Gold {
			gold[g] = true
		}
		d.table.weight = append(d.table.weight, l.Weight)
		vectors := trial.Vectors()
		for j, line := range trial.Lines() {
			times := 1.0
			if !gold[line] {
				drawn := rng.IntN(spared) == 0
				switch {
				case drawn && l.Judge:
					times = spared
				case l.Judge:
					times = 0
				case !drawn:
					continue
				}
			}
			d.table.times = append(d.table.times, times)
			values = append(values, vectors[j])
			d.table.gold = append(d.table.gold, gold[line])
			d.table.group = append(d.table.group, int32(i))
		}
		s.rows = len(values) - s.first
		d.Samples = append(d.Samples, s)
	}
	d.borders = findBorders(values, len(d.names), bins)
	for f, name := range d.names {
		if slices.Contains(drop, name) {
			d.borders[f] = nil
		}
		column := make([]uint8, len(values))
		for r := range values {
			column[r] = binOf(d.borders[f], values[r][f])
		}
		d.table.bins = append(d.table.bins, column)
	}
	return d, nil
}

// HeldOut scores every row with a model fitted without the row's project.
func (d *Data) HeldOut(set Settings, folds int) []float32 {
	d.assignFolds(folds)
	scores := make([]float32, len(d.table.gold))
	for fold := range folds {
		trees := boost(d.table, d.borders, d.fitted(func(s *Sample) bool { return s.fold != fold }), set)
		for _, r := range d.rows(func(s *Sample) bool { return s.fold == fold && s.Judge }) {
			for i := range trees {
				scores[r] += trees[i].leaf[trees[i].leafOf(d.table.bins, r)]
			}
		}
	}
	return scores
}

// Unseen leaves out each part of the projects in turn and fits a model to the rest. It calls use
// with the model and a function that recognizes the cases of that part.
func (d *Data) Unseen(set Settings, folds int, use func(model []prune.TrialTree, isUnseen func(*cases.Case) bool) error) error {
	d.assignFolds(folds)
	for fold := range folds {
		repos := map[string]bool{}
		for _, s := range d.Samples {
			if s.fold == fold {
				repos[s.Case.Repo] = true
			}
		}
		trees := boost(d.table, d.borders, d.fitted(func(s *Sample) bool { return s.fold != fold }), set)
		model := make([]prune.TrialTree, len(trees))
		for i, t := range trees {
			for j, f := range t.feature {
				model[i].Feature[j], model[i].Above[j] = f, d.borders[f][t.border[j]]
			}
			copy(model[i].Leaf[:], t.leaf)
		}
		if err := use(model, func(c *cases.Case) bool { return repos[c.Repo] }); err != nil {
			return err
		}
	}
	return nil
}

// Model returns the Go file of a model fitted to all cases.
func (d *Data) Model(name string, set Settings) []byte {
	trees := boost(d.table, d.borders, d.fitted(func(*Sample) bool { return true }), set)
	return source(name, trees, d.borders, d.names)
}

// Plan prunes a case with the scores of HeldOut.
func (s *Sample) Plan(scores []float32, ratio float64, structure prune.Structure) prune.Result {
	return s.trial.Plan(scores[s.first:s.first+s.rows], ratio, structure)
}

// PlanFixed is Plan without the lines kept beyond the budget for their chances.
func (s *Sample) PlanFixed(scores []float32, ratio float64, structure prune.Structure) prune.Result {
	s.trial.Fixed = true
	defer func() { s.trial.Fixed = false }()
	return s.Plan(scores, ratio, structure)
}

// Chances returns the line numbers of a case, from 1, and their relative chances by the scores of
// HeldOut.
func (s *Sample) Chances(scores []float32) (lines []int, chances []float32) {
	return s.trial.Lines(), s.trial.Chances(scores[s.first : s.first+s.rows])
}

func (d *Data) rows(use func(*Sample) bool) (rows []int) {
	for _, s := range d.Samples {
		if use(s) {
			for r := s.first; r < s.first+s.rows; r++ {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// fitted returns the rows of some samples that models are fitted to.
func (d *Data) fitted(use func(*Sample) bool) []int {
	return slices.DeleteFunc(d.rows(use), func(r int) bool { return d.table.times[r] == 0 })
}

// assignFolds puts each project into one fold, so that no model is judged on a project it has seen.
func (d *Data) assignFolds(folds int) {
	size := map[string]int{}
	for _, s := range d.Samples {
		size[s.Case.Repo]++
	}
	repos := make([]string, 0, len(size))
	for r := range size {
		repos = append(repos, r)
	}
	slices.SortFunc(repos, func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(hash(a)%1009, hash(b)%1009), cmp.Compare(a, b))
	})
	load := make([]int, folds)
	fold := map[string]int{}
	for _, r := range repos {
		least := 0
		for f := range load {
			if load[f] < load[least] {
				least = f
			}
		}
		fold[r] = least
		load[least] += size[r]
	}
	for _, s := range d.Samples {
		s.fold = fold[s.Case.Repo]
	}
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}
