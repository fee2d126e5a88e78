package toolfit

import (
	"math"
	"slices"

	"secateur/internal/mcp/toolindex"
	"secateur/test/eval/toolcases"
)

// example is a query's candidates and which of them are right.
type example struct {
	features [][]float32
	right    []bool
	weight   float64
}

// indexes are the catalogues, indexed.
func indexes(sources []*toolcases.Source, l *toolindex.Lexicon, m *toolindex.Model) map[string]*toolindex.Index {
	out := map[string]*toolindex.Index{}
	for _, s := range sources {
		out[s.Name] = l.Index(m, l.NewPart(s.Items))
	}
	return out
}

// mostOfFamily bounds what is measured of a family: more of the same teaches little.
const mostOfFamily = 6

// examples measures the queries to learn from. Each kind of query of each source counts the same, and within it each family.
func examples(sources []*toolcases.Source, in map[string]*toolindex.Index, use func(*toolcases.Query) bool) []example {
	kinds, families := map[string]float64{}, map[string]float64{}
	for _, s := range sources {
		counted := map[string]bool{}
		for _, q := range s.Queries {
			if !use(q) {
				continue
			}
			kind := s.Name + q.Kind
			families[kind+q.Family] = min(families[kind+q.Family]+1, mostOfFamily)
			if !counted[kind+q.Family] {
				counted[kind+q.Family] = true
				kinds[kind]++
			}
		}
	}
	var out []example
	for _, s := range sources {
		x := in[s.Name]
		taken := map[string]int{}
		for _, q := range s.Queries {
			if !use(q) {
				continue
			}
			if taken[q.Kind+q.Family]++; taken[q.Kind+q.Family] > mostOfFamily {
				continue
			}
			e := example{weight: 1 / kinds[s.Name+q.Kind] / families[s.Name+q.Kind+q.Family]}
			needs := slices.Concat(q.Needs()...)
			hit := false
			for _, c := range x.Measure(q.Text) {
				ok := slices.Contains(needs, toolcases.ID(x.Item(c.Item)))
				hit = hit || ok
				e.features, e.right = append(e.features, c.Features), append(e.right, ok)
			}
			if hit {
				out = append(out, e)
			}
		}
	}
	return out
}

// prior are the weights that fitting begins with and is drawn back to, in the order of the features: written by hand.
var prior = map[string]float32{
	"byTotal": 6, "byExact": 2, "nameCovered": 1, "nameMeant": 1, "queryInName": 1, "queryMeant": 1, "serverCovered": .5, "queryInFirst": 1,
	"sameVerb": .5, "otherVerb": -.3, "byTopic": 1, "byPairs": .5,
}

func priorWeights() []float32 {
	w := make([]float32, len(toolindex.FeatureNames()))
	for i, name := range toolindex.FeatureNames() {
		w[i] = prior[name]
	}
	return w
}

// fit finds weights by which the right candidates come first: gradient descent on the softmax over each query's candidates.
func fit(all []example, n int, start []float32) []float32 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(start[i])
	}
	var total float64
	for _, e := range all {
		total += e.weight
	}
	m, v := make([]float64, n), make([]float64, n)
	const rounds, rate, decay = 250, .08, .015
	scores := make([]float64, 128)
	for round := 1; round <= rounds; round++ {
		g := make([]float64, n)
		for _, e := range all {
			best := math.Inf(-1)
			for i, f := range e.features {
				scores[i] = 0
				for k, x := range f {
					scores[i] += w[k] * float64(x)
				}
				best = math.Max(best, scores[i])
			}
			var sum, right float64
			for i := range e.features {
				scores[i] = math.Exp(scores[i] - best)
				sum += scores[i]
				if e.right[i] {
					right += scores[i]
				}
			}
			for i, f := range e.features {
				d := scores[i] / sum
				if e.right[i] {
					d -= scores[i] / right
				}
				d *= e.weight / total
				for k, x := range f {
					g[k] += d * float64(x)
				}
			}
		}
		for k := range w { // Adam
			g[k] += decay * (w[k] - float64(start[k]))
			m[k] = .9*m[k] + .1*g[k]
			v[k] = .99*v[k] + .01*g[k]*g[k]
			mh, vh := m[k]/(1-math.Pow(.9, float64(round))), v[k]/(1-math.Pow(.99, float64(round)))
			w[k] -= rate * mh / (math.Sqrt(vh) + 1e-8)
		}
	}
	out := make([]float32, n)
	for i := range w {
		out[i] = float32(math.Round(w[i]*100) / 100)
	}
	return out
}
