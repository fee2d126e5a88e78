package bill

import "math"

// Size is how large a text is, as far as that can be told without the provider's tokenizer. Tokenizers differ most in what
// they make of digits and signs.
type Size struct {
	Tokens float64 // as we estimate them
	Digits float64 // characters
	Signs  float64 // characters that are no letters, digits or spaces
}

// Plus is the size of both together.
func (s Size) Plus(t Size) Size {
	return Size{s.Tokens + t.Tokens, s.Digits + t.Digits, s.Signs + t.Signs}
}

// Less is what is left when another size is taken away.
func (s Size) Less(t Size) Size {
	return Size{max(0, s.Tokens-t.Tokens), max(0, s.Digits-t.Digits), max(0, s.Signs-t.Signs)}
}

func (s Size) times(x float64) Size { return Size{x * s.Tokens, x * s.Digits, x * s.Signs} }

// Weights are how many tokens a provider counts for each unit of a size.
type Weights struct{ Tokens, Digits, Signs float64 }

// Count is how many tokens the provider is expected to count in a text.
func (w Weights) Count(s Size) float64 {
	n := w.Tokens*s.Tokens + w.Digits*s.Digits + w.Signs*s.Signs
	return min(max(n, minScale*s.Tokens), maxScale*s.Tokens)
}

// Near tells whether weights are much the same.
func (w Weights) Near(other Weights) bool {
	const little = 0.03
	theirs := other.floats()
	for i, f := range w.floats() {
		if math.Abs(*f-*theirs[i]) >= little {
			return false
		}
	}
	return true
}

// Scale learns how many tokens a provider counts in a text of some size. It fits weights
// to the differences between successive requests, by least squares held to a first guess
// (ridge regression). The zero value guesses that our estimates are right.
type Scale struct {
	Guess Weights // zero: our estimates are right

	// The normal equations: sums of products of sizes (tokens and tokens, tokens and digits, tokens and
	// signs, digits and digits, digits and signs, signs and signs), and of sizes with what was counted.
	Products [6]float64
	Counted  [3]float64
}

const (
	// held is how many tokens a guess is worth.
	held = 60
	// One estimate is not off by more than this.
	minScale, maxScale = 0.3, 3
)

// first takes in the first prompt that was counted whole.
func (s *Scale) first(ours Size, theirs float64) {
	if s.Guess == (Weights{}) && ours.Tokens > 0 && theirs > 0 {
		s.Guess.Tokens = min(max(theirs/ours.Tokens, minScale), maxScale)
	}
}

// learn takes in by how much a prompt has grown, as we estimated it and as it was counted.
func (s *Scale) learn(grown Size, theirs float64) {
	if grown.Tokens <= 0 || theirs <= 0 {
		return
	}
	if x := theirs / grown.Tokens; x < minScale/2 || x > 2*maxScale {
		return // something else has happened to the prompt
	}
	// What is long counts for more, but not as its square: one huge result is one text.
	w := 1 / max(grown.Tokens, held)
	x := [3]float64{grown.Tokens, grown.Digits, grown.Signs}
	k := 0
	for i := range x {
		for j := i; j < len(x); j++ {
			s.Products[k] += w * x[i] * x[j]
			k++
		}
		s.Counted[i] += w * x[i] * theirs
	}
}

// Weights solves the normal equations (Cramer's rule).
func (s Scale) Weights() Weights {
	guess := s.Guess
	if guess == (Weights{}) {
		guess.Tokens = 1
	}
	p := s.Products
	a, b, c, d, e, f := p[0]+held, p[1], p[2], p[3]+held, p[4], p[5]+held
	x, y, z := s.Counted[0]+held*guess.Tokens, s.Counted[1]+held*guess.Digits, s.Counted[2]+held*guess.Signs
	minor := func(a, b, c, d, e, f, g, h, i float64) float64 {
		return a*(e*i-f*h) - b*(d*i-f*g) + c*(d*h-e*g)
	}
	det := minor(a, b, c, b, d, e, c, e, f)
	return Weights{
		minor(x, b, c, y, d, e, z, e, f) / det,
		minor(a, x, c, b, y, e, c, z, f) / det,
		minor(a, b, x, b, d, y, c, e, z) / det,
	}
}

// Count is how many tokens the provider is expected to count in a text.
func (s Scale) Count(size Size) float64 { return s.Weights().Count(size) }
