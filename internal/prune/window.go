package prune

import "math"

// spread walks over values and returns, row by row, their sum over k rows on both sides, weighted
// by distance. Sums are integers, so that subtracting is exact.
type spread struct {
	v          []int32 // the values, with k+1 zeros before and after them; nil: all are zero
	rows, k, i int
	// Sums of the k+1 rows before row i, and of row i and the k after it; the value before row i
	// times k+1.
	left, right, sum int64
	scale            float64
}

const spreadUnit = 1 << 20

func newSpread(v []float32, k int) *spread {
	s := &spread{rows: len(v), k: k, scale: 1 / (float64(k+1) * spreadUnit)}
	first := 0
	for first < len(v) && v[first] == 0 {
		first++
	}
	if first == len(v) {
		return s
	}
	s.v = make([]int32, len(v)+2*(k+1))
	for i := first; i < len(v); i++ {
		s.v[i+k+1] = int32(v[i] * spreadUnit)
	}
	s.begin()
	return s
}

// newScaledSpread is a spread whose largest value is 1.
func newScaledSpread(v []float32, k int) *spread {
	s := newSpread(v, k)
	if s.v == nil {
		return s
	}
	top := float32(0)
	for range v {
		top = max(top, s.next())
	}
	s.begin()
	if top > 0 {
		s.scale /= float64(top)
	}
	return s
}

func (s *spread) begin() {
	s.i, s.left, s.right, s.sum = 0, 0, 0, 0
	if s.v == nil {
		return
	}
	for j, x := range s.v[s.k+1:][:min(s.k+1, s.rows)] {
		s.right += int64(x)
		s.sum += int64(x) * int64(s.k-j)
	}
}

// next returns the value of the next row.
func (s *spread) next() float32 {
	if s.v == nil {
		return 0
	}
	s.sum += s.right - s.left
	around := s.v[s.i : s.i+2*s.k+3]
	here := int64(around[s.k+1])
	s.left += here - int64(around[0])
	s.right += int64(around[len(around)-1]) - here
	s.i++
	return float32(float64(s.sum) * s.scale)
}

// all returns the values of all rows.
func (s *spread) all() []float32 {
	out := make([]float32, s.rows)
	for i := range out {
		out[i] = s.next()
	}
	return out
}

// scaled divides by the largest value, in place.
func scaled(v []float32) []float32 {
	top := float32(0)
	for _, x := range v {
		top = max(top, x)
	}
	if top > 0 {
		for i := range v {
			v[i] /= top
		}
	}
	return v
}

// ranking returns approximately how many values are larger than a given one: values that differ by
// less than a step count as equal.
type ranking struct {
	above [rankSteps + 1]uint32
	scale float32
}

const rankSteps = 4096

func newRanking(v []float32) *ranking {
	top := float32(0)
	for _, x := range v {
		top = max(top, x)
	}
	r := &ranking{}
	if top > 0 {
		r.scale = (rankSteps - 1) / top
	}
	var count [rankSteps + 1]uint32
	for _, x := range v {
		count[r.step(x)]++
	}
	sum := uint32(0)
	for i := rankSteps; i >= 0; i-- {
		r.above[i] = sum
		sum += count[i]
	}
	return r
}

// step returns 0 for zero, and at least 1 for any positive value.
func (r *ranking) step(x float32) int {
	if !(x > 0) {
		return 0
	}
	return min(rankSteps, 1+int(x*r.scale))
}

func (r *ranking) of(x float32) float32 { return float32(r.above[r.step(x)]) }

// coverage walks over rows. It returns the share of the goal that each row and its k neighbours on
// both sides name.
type coverage struct {
	m     *matches
	k, i  int
	rows  int
	count []int32
	sum   float64
}

func newCoverage(m *matches, rows, k int) *coverage {
	c := &coverage{m: m, k: k, rows: rows, count: make([]int32, len(m.termWeight))}
	for r := range min(k, rows) {
		c.enter(r)
	}
	return c
}

func (c *coverage) enter(r int) {
	for _, x := range c.m.of(r) {
		term := c.m.term[x]
		if c.count[term]++; c.count[term] == 1 {
			c.sum += float64(c.m.termWeight[term])
		}
	}
}

func (c *coverage) next() float32 {
	if in := c.i + c.k; in < c.rows {
		c.enter(in)
	}
	if gone := c.i - c.k - 1; gone >= 0 {
		for _, x := range c.m.of(gone) {
			term := c.m.term[x]
			if c.count[term]--; c.count[term] == 0 {
				c.sum -= float64(c.m.termWeight[term])
			}
		}
	}
	c.i++
	return float32(math.Max(0, c.sum))
}
