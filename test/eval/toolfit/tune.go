package toolfit

import (
	"fmt"
	"io"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
)

// knobs are the numbers of the model that are no weights.
func knobs(m *toolindex.Model) map[string]*float32 {
	return map[string]*float32{
		"K1": &m.K1, "B": &m.B, "Name": &m.Name, "Server": &m.Server, "First": &m.First, "Rest": &m.Rest, "Args": &m.Args,
		"Synonym": &m.Synonym, "Topic": &m.Topic, "Lead": &m.Lead, "Meant": &m.Meant, "Aside": &m.Aside,
		"placeholder": &m.Kinds[1], "quoted": &m.Kinds[2], "number": &m.Kinds[3],
	}
}

var knobOrder = []string{"Aside", "Topic", "Synonym", "Lead", "Meant", "Name", "Server", "Rest", "B", "K1", "First", "Args", "placeholder", "quoted", "number"}

// lexicons are what was learned for each fold and each half of its rest.
type lexicons struct {
	rest  *toolindex.Lexicon
	halfs [2]*toolindex.Lexicon
}

// Tune moves one number after the other as long as queries of unseen families are served better.
func Tune(out io.Writer, sources []*toolcases.Source) {
	const folds = 3
	table, _ := toolindex.ShippedTables()
	part := func(q *toolcases.Query) int { return fold(q.Source+"/"+q.Family, folds) }
	var known [folds]lexicons
	for p := range folds {
		rest := func(q *toolcases.Query) bool { return part(q) != p }
		known[p].rest = toolindex.ParseLexicon(table, learn(sources, rest))
		for half := range 2 {
			known[p].halfs[half] = toolindex.ParseLexicon(table, learn(sources, func(q *toolcases.Query) bool { return rest(q) && halfOf(q) != half }))
		}
	}
	few := fewOf(sources)
	judge := func(m toolindex.Model) float64 {
		all := toolcases.Results{}
		for p := range folds {
			var ex []example
			for half := range 2 {
				ex = append(ex, examples(sources, indexes(sources, known[p].halfs[half], &m), func(q *toolcases.Query) bool {
					return part(q) != p && halfOf(q) == half && few[q.ID]
				})...)
			}
			fitted := m
			copy(fitted.Weights[:], fit(ex, len(toolindex.FeatureNames()), priorWeights()))
			all.Add(toolcases.Judge(sources, Trained{known[p].rest, fitted}.Rank, func(q *toolcases.Query) bool { return part(q) == p && few[q.ID] }))
		}
		var sum float64
		for _, row := range toolcases.Rows {
			_, s := all.Mean(row)
			sum += (s.Top1 + s.Top5) / 2 / float64(len(toolcases.Rows))
		}
		return sum
	}
	best := toolindex.ShippedModel()
	score := judge(best)
	fmt.Fprintf(out, "start %.4f\n", score)
	for range 2 {
		for _, name := range knobOrder {
			for _, factor := range []float32{.6, 1.6} {
				m := best
				*knobs(&m)[name] *= factor
				s := judge(m)
				fmt.Fprintf(out, "%s %.3g: %.4f\n", name, *knobs(&m)[name], s)
				if s > score+.0005 {
					best, score = m, s
					fmt.Fprintf(out, "  taken\n")
					break
				}
			}
		}
	}
}

// fewOf are some queries of each family.
func fewOf(sources []*toolcases.Source) map[string]bool {
	out, taken := map[string]bool{}, map[string]int{}
	for _, s := range sources {
		for _, q := range s.Queries {
			key := s.Name + q.Kind + q.Family
			if taken[key]++; taken[key] <= 4 {
				out[q.ID] = true
			}
		}
	}
	return out
}
