package replay

import (
	"math"
	"unicode/utf8"
)

// features of a text that tokenizers differ by: tokens of o200k_base, characters, digits and signs.
type features [3]float64

func featuresOf(tokens float64, text string) features {
	return features{tokens, float64(utf8.RuneCountInString(text)), marksIn(text)}
}

func (f features) times(weights features) (sum float64) {
	for i := range f {
		sum += f[i] * weights[i]
	}
	return sum
}

// marksIn counts the ASCII digits and signs of a text.
func marksIn(text string) float64 {
	n := 0
	for i := range len(text) {
		if c := text[i]; c > ' ' && c < utf8.RuneSelf && !isUpper(c) && !isLower(c) {
			n++
		}
	}
	return float64(n)
}

// learn has the player count as the session's provider did. The recorded counts of requests that follow each other say how
// many tokens the messages between them have. With too few counts, sizes stay those of the ruler.
func (p *player) learn() {
	known := make(map[*rendered]features)
	var sum, before features
	var x []features
	var y []float64
	counted, length := 0.0, 0
	for k, prompt := range p.whole {
		sum = features{}
		for _, m := range prompt {
			f, ok := known[m.rendered]
			if !ok {
				f = featuresOf(m.size, m.text)
				known[m.rendered] = f
			}
			for i := range sum {
				sum[i] += f[i]
			}
		}
		now := p.session.requests[k].counted
		if counted > 0 && now > counted && len(prompt) > length {
			x = append(x, features{sum[0] - before[0], sum[1] - before[1], sum[2] - before[2]})
			y = append(y, now-counted)
		}
		counted, before, length = now, sum, len(prompt)
	}
	const enough = 6
	if len(x) < enough {
		return
	}
	weights := fit(x, y)
	measure := p.ruler
	p.ruler = func(text string) float64 { return max(0, featuresOf(measure(text), text).times(weights)) }
	p.render.ruler = p.ruler
	for _, m := range p.render.byText {
		f, ok := known[m]
		if !ok {
			f = featuresOf(m.size, m.text)
		}
		m.size = max(0, f.times(weights))
	}
	if p.session.counted > 0 {
		seen := 0.0
		for _, m := range p.whole[0] {
			seen += m.size
		}
		p.hidden = max(0, p.session.counted-seen)
	}
}

// fit is a ridge regression towards the ruler's own counts, scaled to the sum.
func fit(x []features, y []float64) (weights features) {
	var square [3]float64
	tokens, all := 0.0, 0.0
	for k, f := range x {
		tokens, all = tokens+f[0], all+y[k]
		for i := range f {
			square[i] += f[i] * f[i]
		}
	}
	if tokens <= 0 {
		return features{1, 0, 0}
	}
	toward := features{all / tokens, 0, 0}
	const ridge = 0.002
	var a [3][4]float64
	for i := range a {
		a[i][i] = ridge*square[i] + math.SmallestNonzeroFloat64
		for k, f := range x {
			for j := range f {
				a[i][j] += f[i] * f[j]
			}
			a[i][3] += f[i] * (y[k] - f.times(toward))
		}
	}
	for i := range a { // the matrix is symmetric and positive: no pivoting
		if a[i][i] == 0 {
			continue
		}
		for r := range a {
			if r == i {
				continue
			}
			q := a[r][i] / a[i][i]
			for c := i; c < 4; c++ {
				a[r][c] -= q * a[i][c]
			}
		}
	}
	weights = toward
	for i := range a {
		if a[i][i] > 0 {
			weights[i] += a[i][3] / a[i][i]
		}
	}
	return weights
}
