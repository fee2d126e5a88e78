package toolfit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
)

// Bounds of what is learned of words: a word that few families of tools have taught is not known.
const (
	minTrustFamilies = 4
	minLeadFamilies  = 3
	maxLeads         = 8
)

// counts of a word of queries.
type seen struct {
	families map[string]bool
	queries  float64
	hits     float64            // queries whose tool has the word too
	expected float64            // of those if it were chance
	with     map[string]float64 // by a word of the tool: queries, each family counting for one
	by       map[string]map[string]bool
}

// learn counts which words of queries their tools have too, and which others they have instead.
func learn(sources []*toolcases.Source, use func(*toolcases.Query) bool) string {
	all := map[string]*seen{}
	common := map[string]float64{} // share of tools that have a word, over the sources
	for _, s := range sources {
		docs := map[string][]string{}
		df := map[string]float64{}
		for _, it := range s.Items {
			stems := toolindex.Stems(it.Server + " " + it.Name + " " + it.Title + " " + it.Description)
			docs[toolcases.ID(it)] = stems
			for _, w := range stems {
				df[w] += 1 / float64(len(s.Items))
			}
		}
		for w, share := range df {
			common[w] += share / float64(len(sources))
		}
		perFamily := map[string]float64{}
		for _, q := range s.Queries {
			if use(q) {
				perFamily[q.Family]++
			}
		}
		for _, q := range s.Queries {
			if !use(q) {
				continue
			}
			weight := 1 / perFamily[q.Family]
			family := s.Name + "/" + q.Family
			gold := map[string]bool{}
			for _, g := range q.Gold {
				for _, w := range docs[g] {
					gold[w] = true
				}
			}
			for _, w := range toolindex.Stems(q.Text) {
				c := all[w]
				if c == nil {
					c = &seen{families: map[string]bool{}, with: map[string]float64{}, by: map[string]map[string]bool{}}
					all[w] = c
				}
				c.families[family] = true
				c.queries += weight
				c.expected += weight * df[w]
				if gold[w] {
					c.hits += weight
				}
				for g := range gold {
					if g == w {
						continue
					}
					c.with[g] += weight
					if c.by[g] == nil {
						c.by[g] = map[string]bool{}
					}
					c.by[g][family] = true
				}
			}
		}
	}
	return render(all, common)
}

func render(all map[string]*seen, common map[string]float64) string {
	var b strings.Builder
	var words []string
	for w := range all {
		words = append(words, w)
	}
	slices.Sort(words)
	for _, w := range words {
		c := all[w]
		if len(c.families) >= minTrustFamilies {
			if t := trust(c); t < .95 {
				fmt.Fprintf(&b, "%s %.2f\n", w, t)
			}
		}
	}
	for _, w := range words {
		c := all[w]
		if len(c.families) < minLeadFamilies || len(c.families) > 40 {
			continue
		}
		type lead struct {
			to    string
			value float64
		}
		var leads []lead
		for g, n := range c.with {
			if len(c.by[g]) < minLeadFamilies {
				continue
			}
			share := n / (c.queries + 1.5)
			lift := share / (common[g] + .01)
			if lift < 4 {
				continue
			}
			leads = append(leads, lead{g, math.Min(.9, share)})
		}
		slices.SortFunc(leads, func(a, b lead) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.to, b.to)) })
		for _, l := range leads[:min(len(leads), maxLeads)] {
			if l.value >= .12 {
				fmt.Fprintf(&b, "%s %s %.2f\n", w, l.to, l.value)
			}
		}
	}
	return b.String()
}

// trust is how much more often a word is in the right tool than chance has it, between .1 and 1.
func trust(c *seen) float64 {
	const prior = 2
	share := (c.hits + prior*.35) / (c.queries + prior)
	chance := (c.expected + prior*.05) / (c.queries + prior)
	over := (share - chance) / (1 - chance)
	return math.Max(.15, math.Min(1, .15+over*2.4))
}
