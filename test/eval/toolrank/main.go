// Command toolrank trains the ranker of tool search. go run ./test/eval -tools judges it.
//
// It reads the folder named by EVALDATA, default ../shared/evaldata. Run it from the repository's root:
//
//	go run ./test/eval/toolrank           # learn from everything, write internal/mcp/toolindex/learned.txt, print the weights for model.go
//	go run ./test/eval/toolrank -tune     # look for better numbers beside the weights
//	go run ./test/eval/toolrank -misses azure
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
	"secateur/test/eval/toolfit"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "toolrank:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("toolrank", flag.ContinueOnError)
	tune := flags.Bool("tune", false, "look for better numbers of the model")
	misses := flags.String("misses", "", "print the queries of this source that the shipped model misses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	sources, err := toolcases.Load(toolcases.Folder())
	switch {
	case err != nil:
		return err
	case *tune:
		toolfit.Tune(out, sources)
		return nil
	case *misses != "":
		printMisses(out, sources, *misses)
		return nil
	}
	t, learned := toolfit.Train(sources, toolfit.Everything)
	fmt.Fprintln(out, "Weights: [featureCount]float32{")
	for i, name := range toolindex.FeatureNames() {
		fmt.Fprintf(out, "\t%s: %g,\n", name, t.Model.Weights[i])
	}
	fmt.Fprintln(out, "}")
	return os.WriteFile(filepath.Join("internal", "mcp", "toolindex", "learned.txt"), []byte(learned), 0o644) //nolint:gosec // source
}

func printMisses(out io.Writer, sources []*toolcases.Source, name string) {
	for _, s := range sources {
		if s.Name != name {
			continue
		}
		rank := toolfit.Shipped().Rank(s.Items)
		for _, q := range s.Queries {
			if ranked := rank(q.Text); q.Score(ranked).Top1 == 0 {
				fmt.Fprintf(out, "%-14s %.200q\n    gold %v\n    got  %v\n", q.Kind, q.Text, q.Gold, ranked[:min(3, len(ranked))])
			}
		}
	}
}
