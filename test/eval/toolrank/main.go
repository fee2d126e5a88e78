// Command toolrank trains the ranker of tool search and judges it on tools that it has not seen.
//
// It reads the folder named by EVALDATA, default ../shared/evaldata. Run it from the repository's root:
//
//	go run ./test/eval/toolrank           # the table: as shipped, unseen families, unseen sources
//	go run ./test/eval/toolrank -write    # learn from everything and write internal/mcp/toolindex/learned.txt; print the weights
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "toolrank:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("toolrank", flag.ContinueOnError)
	write := flags.Bool("write", false, "learn from everything and write what was learned")
	only := flags.String("only", "", "families or sources: only that table")
	tuning := flags.Bool("tune", false, "look for better numbers of the model")
	quick := flags.Bool("quick", false, "only as shipped")
	misses := flags.String("misses", "", "print the queries of this source that are missed by the shipped model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	sources, err := toolcases.Load(toolcases.Folder())
	if err != nil {
		return err
	}
	if *misses != "" {
		printMisses(out, sources, *misses)
		return nil
	}
	if *tuning {
		tune(out, sources)
		return nil
	}
	if *write {
		learned := learn(sources, everything)
		t := train(sources, everything, learned)
		fmt.Fprintln(out, "Weights: [featureCount]float32{")
		for i, name := range toolindex.FeatureNames() {
			fmt.Fprintf(out, "\t%s: %g,\n", name, t.model.Weights[i])
		}
		fmt.Fprintln(out, "}")
		return os.WriteFile(filepath.Join("internal", "toolindex", "learned.txt"), []byte(learned), 0o644) //nolint:gosec // source
	}
	toolcases.Print(out, "as shipped", toolcases.Judge(sources, shipped(), everything))
	if *quick {
		return nil
	}
	if *only != "sources" {
		toolcases.Print(out, "families unseen", unseen(sources, 5, func(q *toolcases.Query) int { return fold(q.Source+"/"+q.Family, 5) }))
	}
	if *only == "families" {
		return nil
	}
	toolcases.Print(out, "sources unseen", unseen(sources, len(toolcases.Names), func(q *toolcases.Query) int {
		for i, n := range toolcases.Names {
			if n == q.Source {
				return i
			}
		}
		return 0
	}))
	return nil
}

func everything(*toolcases.Query) bool { return true }

func fold(key string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int(h.Sum32()>>3) % n
}

// trained is a lexicon and a model.
type trained struct {
	lexicon *toolindex.Lexicon
	model   toolindex.Model
}

func shipped() toolcases.Ranker { return trained{toolindex.Words(), toolindex.ShippedModel()}.rank }

// rank ranks a catalogue for queries.
func (t trained) rank(items []toolindex.Item) func(string) []string {
	x := t.lexicon.Index(&t.model, t.lexicon.NewPart(items))
	return func(query string) []string {
		var ids []string
		for _, h := range x.Find(query, 20) {
			ids = append(ids, toolcases.ID(x.Item(h.Item)))
		}
		return ids
	}
}

// train fits weights to some queries, with words learned from them. The words were learned from the queries themselves, which
// would make them look better than they are; so each half of the families is measured with what the other half has taught.
func train(sources []*toolcases.Source, use func(*toolcases.Query) bool, learned string) trained {
	table, _ := toolindex.ShippedTables()
	m := toolindex.ShippedModel()
	var all []example
	for half := range 2 {
		of := func(h int) func(*toolcases.Query) bool {
			return func(q *toolcases.Query) bool { return use(q) && halfOf(q) == h }
		}
		l := toolindex.ParseLexicon(table, learn(sources, of(1-half)))
		all = append(all, examples(sources, indexes(sources, l, &m), of(half))...)
	}
	w := fit(all, len(toolindex.FeatureNames()), m.Weights[:])
	copy(m.Weights[:], w)
	return trained{toolindex.ParseLexicon(table, learned), m}
}

// unseen judges each part of the queries by what the others have taught.
func unseen(sources []*toolcases.Source, parts int, part func(*toolcases.Query) int) toolcases.Results {
	all := toolcases.Results{}
	for p := range parts {
		rest := func(q *toolcases.Query) bool { return part(q) != p }
		t := train(sources, rest, learn(sources, rest))
		all.Add(toolcases.Judge(sources, t.rank, func(q *toolcases.Query) bool { return part(q) == p }))
	}
	return all
}

func printMisses(out io.Writer, sources []*toolcases.Source, name string) {
	for _, s := range sources {
		if s.Name != name {
			continue
		}
		rank := shipped()(s.Items)
		for _, q := range s.Queries {
			if ranked := rank(q.Text); q.Score(ranked).Top1 == 0 {
				fmt.Fprintf(out, "%-14s %.200q\n    gold %v\n    got  %v\n", q.Kind, q.Text, q.Gold, ranked[:min(3, len(ranked))])
			}
		}
	}
}
