// Command train fits the pruner's models to the evaluation data, and writes them into the program.
// It reports how well models fitted the same way do on unseen projects.
//
// Run it from the repository's root: go run ./test/eval/train -write
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
	"secateur/test/eval/fit"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	sets := flags.String("set", "code,docs,logs", "which cases")
	folds := flags.Int("folds", 6, "parts for cross-validation, by project; 0: none")
	write := flags.Bool("write", false, "write the models, fitted to all cases, into internal/prune")
	drop := flags.String("drop", "", "features left out, comma separated")
	trees := flags.Int("trees", 0, "trees, if not the chosen number")
	rate := flags.Float64("rate", 0, "learning rate, if not the chosen one")
	lambda := flags.Float64("lambda", 0, "restraint, if not the chosen one")
	depth := flags.Int("depth", 0, "questions per tree, if not the chosen number")
	rows := flags.Float64("rows", 0, "share of rows drawn, if not the chosen one")
	worth := flags.Bool("worth", false, "also what the chances are worth, and what a fixed budget keeps at the same size")
	seed := flags.Uint64("seed", 1, "seed of the draws")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := cases.Load(cases.Folder())
	if err != nil {
		return err
	}
	used, err := cases.Sessions(filepath.Join(filepath.Dir(cases.Folder()), "sessions"), kindOf)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(*sets, ",") {
		set := fit.Chosen(name)
		set.Seed = *seed
		if *trees > 0 {
			set.Trees = *trees
		}
		if *depth > 0 {
			set.Depth = *depth
		}
		if *rows > 0 {
			set.Rows = *rows
		}
		if *rate > 0 {
			set.Rate = *rate
		}
		if *lambda > 0 {
			set.Lambda = *lambda
		}
		data, err := fit.Measure(fit.Course(name, all, used), set.Bins, strings.Split(*drop, ","))
		if err != nil {
			return err
		}
		if *folds > 0 {
			scores := data.HeldOut(set, *folds)
			report(out, name, data.Samples, scores)
			if *worth {
				reportBudget(out, name, data.Samples, scores)
				reportChances(out, name, data.Samples, scores)
			}
		}
		if *write {
			file := filepath.Join("internal", "prune", "model_"+name+".go")
			if err := os.WriteFile(file, data.Model(name, set), 0o644); err != nil { //nolint:gosec // source code
				return err
			}
		}
	}
	return nil
}

func kindOf(_, text string) string { return prune.Guess("", text).String() }

// report prints the share of gold that survives at each ratio and the share of lines cut. It does
// so for all cases and for each subset.
func report(out io.Writer, name string, samples []*fit.Sample, scores []float32) {
	samples = slices.DeleteFunc(slices.Clone(samples), func(s *fit.Sample) bool { return !s.Judge })
	var subsets []string
	for _, s := range samples {
		if !slices.Contains(subsets, s.Case.Set) {
			subsets = append(subsets, s.Case.Set)
		}
	}
	for _, subset := range subsets {
		fmt.Fprintf(out, "%-5s %-12s", name, subset)
		for _, ratio := range []float64{.3, .5, .7, .9} {
			sum, pruned, n := 0.0, 0.0, 0.0
			for _, s := range samples {
				if s.Case.Set != subset {
					continue
				}
				res := s.Plan(scores, ratio, prune.Enclosing)
				sum += recall(s.Case, res)
				pruned += float64(res.Pruned()) / float64(res.Lines)
				n++
			}
			fmt.Fprintf(out, "  %.1f: %.4f (%.3f)", ratio, sum/n, pruned/n)
		}
		fmt.Fprintln(out)
	}
}

func recall(c *cases.Case, res prune.Result) float64 {
	kept, b := 0, 0
	for _, g := range c.Gold {
		for b < len(res.Blocks) && res.Blocks[b].End < g {
			b++
		}
		if b == len(res.Blocks) || g < res.Blocks[b].Start {
			kept++
		}
	}
	return float64(kept) / float64(len(c.Gold))
}
