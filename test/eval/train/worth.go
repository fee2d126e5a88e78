package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"secateur/internal/prune"
	"secateur/test/eval/fit"
)

// found returns the samples of a set that models are judged on.
func found(samples []*fit.Sample, set string) []*fit.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s *fit.Sample) bool { return !s.Judge || s.Case.Set != set })
}

// foundSets returns the sets of original cases, not made from recorded runs.
func foundSets(samples []*fit.Sample) (sets []string) {
	for _, s := range samples {
		if s.Judge && s.Case.Set != "used" && !slices.Contains(sets, s.Case.Set) {
			sets = append(sets, s.Case.Set)
		}
	}
	return sets
}

// outcome is the mean result of the plans of a set.
type outcome struct {
	recall float64
	output float64 // size of the output, with its markers, relative to the original
}

func outcomeOf(samples []*fit.Sample, plan func(*fit.Sample) prune.Result) (o outcome) {
	for _, s := range samples {
		res := plan(s)
		text, _ := prune.Render(s.Case.Text, res, "prn_00000000000000000000000000", false, true)
		o.recall += recall(s.Case, res) / float64(len(samples))
		o.output += float64(len(text)) / float64(len(s.Case.Text)) / float64(len(samples))
	}
	return o
}

// reportBudget prints the share of surviving gold, and that of a uniform budget with the same
// output size.
func reportBudget(out io.Writer, name string, samples []*fit.Sample, scores []float32) {
	for _, set := range foundSets(samples) {
		own := found(samples, set)
		var fixed []outcome
		for ratio := .2; ratio < .99; ratio += .05 {
			fixed = append(fixed, outcomeOf(own, func(s *fit.Sample) prune.Result { return s.PlanFixed(scores, ratio, prune.Enclosing) }))
		}
		slices.SortFunc(fixed, func(a, b outcome) int { return cmp.Compare(a.output, b.output) })
		fmt.Fprintf(out, "%-5s %-12s", name, set)
		for _, ratio := range []float64{.5, .7, .9} {
			o := outcomeOf(own, func(s *fit.Sample) prune.Result { return s.Plan(scores, ratio, prune.Enclosing) })
			fmt.Fprintf(out, "  %.1f: %.4f in %.3f, fixed %.4f", ratio, o.recall, o.output, recallAt(fixed, o.output))
		}
		fmt.Fprintln(out)
	}
}

// recallAt interpolates the recall between two outcomes, which are sorted by output.
func recallAt(rising []outcome, output float64) float64 {
	for i := 1; i < len(rising); i++ {
		a, b := rising[i-1], rising[i]
		if a.output <= output && output <= b.output {
			return a.recall + (output-a.output)/(b.output-a.output)*(b.recall-a.recall)
		}
	}
	return math.NaN()
}

// reportChances prints, for rows of about the same chance relative to their text's mean, their
// share of the chances and of the gold. If both are equal the chances can be trusted.
func reportChances(out io.Writer, name string, samples []*fit.Sample, scores []float32) {
	const bands = 8 // below an eighth of the mean, and so on by doubling
	for _, set := range foundSets(samples) {
		own := found(samples, set)
		var rows, said, held [bands]float64
		for _, s := range own {
			lines, chances := s.Chances(scores)
			sum := 0.0
			for _, x := range chances {
				sum += float64(x)
			}
			for i, line := range lines {
				share := float64(chances[i]) / sum
				band := max(0, min(bands-1, int(math.Floor(math.Log2(share*float64(len(lines)))))+4))
				rows[band] += 1 / float64(len(lines)*len(own))
				said[band] += share / float64(len(own))
				if slices.Contains(s.Case.Gold, line) {
					held[band] += 1 / float64(len(s.Case.Gold)*len(own))
				}
			}
		}
		fmt.Fprintf(out, "%-5s %-12s", name, set)
		for band := range bands {
			fmt.Fprintf(out, "  %.3g×: %.3f of rows, said %.3f, held %.3f", math.Exp2(float64(band-4)), rows[band], said[band], held[band])
		}
		fmt.Fprintln(out)
	}
}
