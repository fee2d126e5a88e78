package bill

import "math"

// Size measures a text without the provider's tokenizer. Tokenizers differ most in digits, signs
// and non-ASCII text; some go by length alone.
type Size struct {
	Tokens float64 // our estimate
	Digits float64 // characters
	Signs  float64 // characters other than letters, digits and spaces
	Others float64 // bytes of non-ASCII characters
	Bytes  float64
	Pairs  float64 // tokens of a byte pair encoding minus our estimate; 0: not measured
	Pieces float64 // number of pieces in a prompt
}

// Plus returns the size of both together.
func (s Size) Plus(t Size) Size {
	return Size{s.Tokens + t.Tokens, s.Digits + t.Digits, s.Signs + t.Signs, s.Others + t.Others, s.Bytes + t.Bytes, s.Pairs + t.Pairs, s.Pieces + t.Pieces}
}

// Less returns s without t. A placeholder may have more signs than the text it replaces, so those
// may go negative.
func (s Size) Less(t Size) Size {
	return Size{max(0, s.Tokens-t.Tokens), s.Digits - t.Digits, s.Signs - t.Signs, s.Others - t.Others, max(0, s.Bytes-t.Bytes), s.Pairs - t.Pairs, s.Pieces - t.Pieces}
}

func (s Size) times(x float64) Size {
	return Size{x * s.Tokens, x * s.Digits, x * s.Signs, x * s.Others, x * s.Bytes, x * s.Pairs, x * s.Pieces}
}

// Weights are the tokens that a provider counts for each unit of a size. Either only Bytes is set,
// or Bytes is zero.
type Weights struct{ Tokens, Digits, Signs, Others, Bytes, Pairs, Pieces float64 }

// Count returns how many tokens the provider is expected to count in a text.
func (w Weights) Count(s Size) float64 {
	n := w.Tokens*s.Tokens + w.Digits*s.Digits + w.Signs*s.Signs + w.Others*s.Others + w.Bytes*s.Bytes + w.Pairs*s.Pairs + w.Pieces*s.Pieces
	return min(max(n, minScale*s.Tokens), maxScale*s.Tokens)
}

// piece returns how many tokens the provider is expected to count for a piece, including its
// overhead.
func (w Weights) piece(p *Piece) float64 { return w.Count(p.Size) + w.Pieces }

// Near reports whether two sets of weights are nearly equal.
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

// Scale learns how many tokens a provider counts for a text of a given size. It has two models. One
// corrects our estimates for digits, signs, non-ASCII text, a byte pair encoding's count, and the
// overhead of a piece. The other counts bytes per token. Each fits weights to the differences
// between successive requests, by least squares held to a first guess (ridge regression). The model
// that predicted these differences better is used (prequential selection). The zero value assumes
// that our estimates are right.
type Scale struct {
	Guess Weights // zero: our estimates are right

	// The normal equations. Products has the sums of products of the corrected quantities (tokens,
	// digits, signs, others, pairs, pieces; the upper triangle, row by row). Counted has their
	// products with the provider's counts.
	Products [corrections * (corrections + 1) / 2]float64
	Counted  [corrections]float64

	// The same for bytes, and the accumulated error of each model.
	Bytes, BytesCounted    float64
	Missed, MissedByLength float64
}

// corrections is the number of corrected quantities.
const corrections = 6

const (
	// The weight of a first guess in tokens: for the scale (known from a whole prompt), for pairs,
	// for the overhead of a piece, and for the rest.
	heldScale, heldPairs, heldPieces, held = 300, 100, 0.03, 60
	// A single estimate is never off by more than this.
	minScale, maxScale = 0.3, 3
	// A whole prompt that is off by more has parts that we do not see.
	minLikely, maxLikely = 0.6, 1.7
	// others is what a non-ASCII byte adds to our estimate before anything is known.
	others = 0.1
	// pairs is the initial weight of Size.Pairs, and pairsAlike the one for an encoding like ours.
	// Most models have a byte pair encoding, each a different one. An encoding is like ours if its
	// count of a whole prompt differs from ours by less than alike.
	pairs, pairsAlike, alike = 0.15, 0.7, 0.12
	// perToken is the approximate number of bytes per token.
	perToken = 3.6
	// Length alone is believed if it is less wrong by this factor, by more than chance, and hardly
	// wrong at all. A tokenizer that goes by length can be predicted to the token.
	convincing, chance, exact = 0.6, 4, 0.04
	// longest is the most tokens of one text that count.
	longest = 4000
	// usualMiss is the usual relative error of predictions where texts are similar. doubtTimes
	// scales an excess over it: removed text was never counted and may be further off. maxDoubt
	// bounds the result.
	usualMiss, doubtTimes, maxDoubt = 0.12, 4, 0.9
	// enough is how many tokens must be compared before the scale is worth sharing.
	enough = 2000
)

// first takes in the first prompt that was counted whole. Its error is attributed to digits and
// signs in proportion to their number, since tokenizers differ most there.
func (s *Scale) first(ours Size, theirs float64) {
	if s.Guess != (Weights{}) || ours.Tokens <= 0 || theirs <= 0 {
		return
	}
	known := pairs
	if exact := ours.Tokens + ours.Pairs; exact > 0 && math.Abs(theirs/exact-1) < alike {
		known = pairsAlike
	}
	scale := min(max((theirs-known*ours.Pairs)/ours.Tokens, minScale), maxScale)
	tokens, digits, signs := ours.Tokens/heldScale, max(0, ours.Digits)/held, max(0, ours.Signs)/held
	off := (scale - 1) * ours.Tokens / (tokens*ours.Tokens + digits*ours.Digits + signs*ours.Signs)
	s.Guess = Weights{Tokens: 1 + off*tokens, Digits: off * digits, Signs: off * signs, Others: others * scale, Pairs: known}
	if ours.Bytes > 0 {
		s.Guess.Bytes = theirs / ours.Bytes
	}
}

// learn takes in the growth of a prompt, as we estimated it and as the provider counted it.
func (s *Scale) learn(grown Size, theirs float64) {
	if grown.Tokens <= 0 || theirs <= 0 {
		return
	}
	if x := theirs / grown.Tokens; x < minScale/2 || x > 2*maxScale {
		return // something else changed the prompt
	}
	s.judge(grown, theirs)
	// Long texts count for more, but not by their square, and only up to a limit: one huge result
	// is one text.
	w := min(1, longest/grown.Tokens) / max(grown.Tokens, held)
	x := [corrections]float64{grown.Tokens, grown.Digits, grown.Signs, grown.Others, grown.Pairs, grown.Pieces}
	k := 0
	for i := range x {
		for j := i; j < len(x); j++ {
			s.Products[k] += w * x[i] * x[j]
			k++
		}
		s.Counted[i] += w * x[i] * theirs
	}
	s.Bytes += w * grown.Bytes * grown.Bytes
	s.BytesCounted += w * grown.Bytes * theirs
}

// judge adds the error of each model's prediction for this count.
func (s *Scale) judge(grown Size, theirs float64) {
	if s.Products[0] == 0 {
		return // neither model has learned anything yet
	}
	const most, long = 0.25, 1500
	wrong := func(w Weights) float64 {
		e := math.Log(theirs / max(w.Count(grown), 1))
		return min(e*e, most) * min(theirs, long)
	}
	s.Missed += wrong(s.corrected())
	s.MissedByLength += wrong(s.byLength())
}

// Suffices reports whether enough was compared to share the scale and to need no other guess.
func (s Scale) Suffices() bool { return s.Products[0] > enough }

// Weights returns the weights of the better model.
func (s Scale) Weights() Weights {
	if s.goesByLength() {
		return s.byLength()
	}
	return s.corrected()
}

func (s Scale) goesByLength() bool {
	if s.Guess.Tokens == 0 && s.Guess.Bytes > 0 { // other conversations found that it does
		return s.Missed+chance >= convincing*s.MissedByLength
	}
	return s.MissedByLength+chance < convincing*s.Missed && s.MissedByLength < exact*exact*s.Products[0]
}

// doubt returns the share of an estimate that may be too much. It is 0 as long as predictions were
// off by no more than usual.
func (s Scale) doubt() float64 {
	if s.Products[0] == 0 {
		return 0
	}
	missed := s.Missed
	if s.goesByLength() {
		missed = s.MissedByLength
	}
	return min(maxDoubt, max(0, doubtTimes*(math.Sqrt(missed/s.Products[0])-usualMiss)))
}

// byLength predicts counts from the number of bytes.
func (s Scale) byLength() Weights {
	guess := s.Guess.Bytes
	if guess == 0 {
		guess = s.Guess.Tokens / perToken
	}
	if guess == 0 {
		guess = 1 / perToken
	}
	const heldBytes = held * perToken * perToken
	return Weights{Bytes: (s.BytesCounted + heldBytes*guess) / (s.Bytes + heldBytes)}
}

// corrected predicts counts from our estimates. It solves the normal equations by Gaussian
// elimination. They are symmetric and positive definite, so no pivot is zero.
func (s Scale) corrected() Weights {
	guess := s.Guess
	if guess.Tokens == 0 {
		guess = Weights{Tokens: 1, Others: others, Pairs: pairs}
		if s.Guess.Bytes > 0 {
			guess.Tokens = s.Guess.Bytes * perToken
		}
	}
	if guess.Pairs == 0 { // the guess predates pairs
		guess.Pairs = pairs
	}
	var m [corrections][corrections + 1]float64
	k := 0
	for i, g := range [corrections]float64{guess.Tokens, guess.Digits, guess.Signs, guess.Others, guess.Pairs, guess.Pieces} {
		for j := i; j < corrections; j++ {
			m[i][j], m[j][i] = s.Products[k], s.Products[k]
			k++
		}
		worth := [corrections]float64{heldScale, held, held, held, heldPairs, heldPieces}[i]
		if i == 0 && (g <= minLikely || g >= maxLikely) {
			worth = held
		}
		m[i][i] += worth
		m[i][corrections] = s.Counted[i] + worth*g
	}
	for i := range m {
		for j := range m {
			if j == i {
				continue
			}
			f := m[j][i] / m[i][i]
			for l := i; l <= corrections; l++ {
				m[j][l] -= f * m[i][l]
			}
		}
	}
	solved := func(i int) float64 { return m[i][corrections] / m[i][i] }
	return Weights{Tokens: solved(0), Digits: solved(1), Signs: solved(2), Others: solved(3), Pairs: solved(4), Pieces: solved(5)}
}

// Count returns how many tokens the provider is expected to count in a text.
func (s Scale) Count(size Size) float64 { return s.Weights().Count(size) }
