// Package toolfit trains the ranker of tool search and judges it on tools that it has not seen.
package toolfit

import (
	"hash/fnv"
	"slices"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
)

// Trained is a lexicon and a model.
type Trained struct {
	Lexicon *toolindex.Lexicon
	Model   toolindex.Model
}

// Shipped is what the program has.
func Shipped() Trained { return Trained{toolindex.Words(), toolindex.ShippedModel()} }

// Rank ranks a catalogue for queries.
func (t Trained) Rank(items []toolindex.Item) func(string) []string {
	x := t.Lexicon.Index(&t.Model, t.Lexicon.NewPart(items))
	return func(query string) []string {
		var ids []string
		for _, h := range x.Find(query, 20) {
			ids = append(ids, toolcases.ID(x.Item(h.Item)))
		}
		return ids
	}
}

// Everything uses every query.
func Everything(*toolcases.Query) bool { return true }

// Train fits weights to some queries, with words learned from them. The words were learned from the queries themselves, which
// would make them look better than they are; so each half of the families is measured with what the other half has taught.
func Train(sources []*toolcases.Source, use func(*toolcases.Query) bool) (t Trained, learned string) {
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
	copy(m.Weights[:], fit(all, len(toolindex.FeatureNames()), priorWeights()))
	learned = learn(sources, use)
	return Trained{toolindex.ParseLexicon(table, learned), m}, learned
}

// UnseenFamilies judges each fifth of the families by what the others have taught.
func UnseenFamilies(sources []*toolcases.Source) toolcases.Results {
	const parts = 5
	return unseen(sources, parts, func(q *toolcases.Query) int { return fold(q.Source+"/"+q.Family, parts) })
}

// UnseenSources judges each source by what the others have taught.
func UnseenSources(sources []*toolcases.Source) toolcases.Results {
	return unseen(sources, len(toolcases.Names), func(q *toolcases.Query) int { return max(0, slices.Index(toolcases.Names, q.Source)) })
}

func unseen(sources []*toolcases.Source, parts int, part func(*toolcases.Query) int) toolcases.Results {
	all := toolcases.Results{}
	for p := range parts {
		t, _ := Train(sources, func(q *toolcases.Query) bool { return part(q) != p })
		all.Add(toolcases.Judge(sources, t.Rank, func(q *toolcases.Query) bool { return part(q) == p }))
	}
	return all
}

func fold(key string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int(h.Sum32()>>3) % n
}

func halfOf(q *toolcases.Query) int { return fold("half/"+q.Source+"/"+q.Family, 2) }
