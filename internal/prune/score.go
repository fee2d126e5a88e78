package prune

import (
	"math"
	"slices"
)

// shortText is the least number of lines that the models know. In a shorter text the goal's words
// count by themselves, the more so the shorter it is.
const shortText = 100

// score gives every row a number: the higher, the likelier the goal needs it.
func (t *text) score(s *shape) ([]float32, bool) {
	model := codeScorer
	switch t.source {
	case Docs:
		model = docsScorer
	case Logs:
		model = logsScorer
	}
	ready := model()
	const trust = 8 // in the goal's words, for a short text
	words := trust * max(0, 1-float32(t.rows())/shortText)
	out := make([]float32, t.rows())
	ok := t.measure(s, func(r int) bool { return !t.onlyCloses(r) }, func(rows []int, v *[lanes]vector) {
		scores := ready.score(v)
		for i, r := range rows {
			out[r] = float32(words*v[i][fLineSoft]) + scores[i]
		}
	})
	if !ok {
		return nil, false
	}
	t.scoreClosers(out)
	const (
		traceWorth       = 3
		boilerplateWorth = -6
	)
	for r, k := range t.kind {
		if k&isBoilerplate != 0 {
			out[r] += boilerplateWorth
		}
		if t.source != Logs && k&isTrace != 0 {
			out[r] += traceWorth
		}
	}
	return t.settle(s, out), true
}

// onlyCloses reports whether a row of code is only brackets or a block-ending word: no goal asks
// for it.
func (t *text) onlyCloses(r int) bool {
	return t.source == Code && t.kind[r]&isClosing != 0 && t.first[r+1]-t.first[r] <= 1
}

// scoreClosers scores the rows that only close something slightly below the row before.
func (t *text) scoreClosers(score []float32) {
	for r := 1; r < len(score); r++ {
		if t.onlyCloses(r) {
			score[r] = score[r-1] - 1
		}
	}
}

// settle turns the models' scores, which are logarithms, into chances, and mixes each row with its
// neighbours. Needed rows seldom come alone, and kept runs need fewer markers. In a document the
// neighbours are the section.
func (t *text) settle(s *shape, score []float32) []float32 {
	if len(score) == 0 {
		return score
	}
	top := slices.Max(score)
	for r, x := range score {
		score[r] = float32(expOf(float64(x - top)))
	}
	switch t.source {
	case Docs:
		return t.shareSections(s, score)
	case Logs:
		return shareNearby(score, 1, .3)
	}
	return shareNearby(score, 3, .3)
}

// shareNearby mixes each row's chance with those of the rows within reach, weighted by distance.
func shareNearby(chance []float32, reach int, share float32) []float32 {
	out := make([]float32, len(chance))
	whole := float32((reach + 1) * (reach + 1)) // the weights of all rows within reach
	for r := range chance {
		sum, weight := float32(0), whole
		if r >= reach && r+reach < len(chance) {
			for d, x := range chance[r-reach : r+reach+1] {
				sum += float32(float32(min(d+1, 2*reach+1-d)) * x)
			}
		} else {
			weight = 0
			for d := max(-reach, -r); d <= min(reach, len(chance)-1-r); d++ {
				w := float32(reach + 1 - max(d, -d))
				sum += float32(w * chance[r+d])
				weight += w
			}
		}
		out[r] = float32((1-share)*chance[r]) + float32(share*sum)/weight
	}
	return out
}

// shareSections mixes each row's chance with that of its section, in place: the mean of its rows,
// or nearly that of its parent section. A caller who asks for a section also wants its subsections.
func (t *text) shareSections(s *shape, chance []float32) []float32 {
	const (
		share   = .8
		inherit = .9
	)
	of := make([]float32, len(chance)) // of each heading: its section's chance
	for b, first := range s.blocks {
		end := len(chance)
		if b+1 < len(s.blocks) {
			end = int(s.blocks[b+1])
		}
		rows := chance[first:end]
		sum := float32(0)
		for _, x := range rows {
			sum += x
		}
		section := sum / float32(max(1, len(rows)))
		if p := s.parent[first]; p >= 0 {
			section = max(section, float32(inherit*of[p]))
		}
		of[first] = section
		for r := range rows {
			rows[r] = float32((1-share)*rows[r]) + float32(share*section)
		}
	}
	return chance
}

// prefer weighs a reranker's scores, if any, against the local ones.
func (t *text) prefer(score []float32, prefer []float64) {
	if len(prefer) != t.lines.Len() {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range prefer {
		if !math.IsNaN(p) && !math.IsInf(p, 0) {
			low, high = math.Min(low, p), math.Max(high, p)
		}
	}
	if high <= low {
		return
	}
	floor, top := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, x := range score {
		floor, top = min(floor, x), max(top, x)
	}
	const trust = 2.0 // weight of the reranker's full range relative to the local one
	for r := range score {
		p := prefer[t.line[r]]
		if math.IsNaN(p) || math.IsInf(p, 0) {
			continue
		}
		score[r] += float32(trust * (p - low) / (high - low) * float64(top-floor))
	}
}
