package bill

import "math"

// Size is how large a text is, as far as that can be told without the provider's tokenizer. Tokenizers differ most in what
// they make of digits, signs and what is not ASCII; some go by length alone.
type Size struct {
	Tokens float64 // as we estimate them
	Digits float64 // characters
	Signs  float64 // characters that are no letters, digits or spaces
	Others float64 // bytes of characters that are not ASCII
	Bytes  float64
	Pairs  float64 // tokens that a byte pair encoding makes of it beyond our estimate; 0 where none was asked
	Pieces float64 // of a prompt
}

// Plus is the size of both together.
func (s Size) Plus(t Size) Size {
	return Size{s.Tokens + t.Tokens, s.Digits + t.Digits, s.Signs + t.Signs, s.Others + t.Others, s.Bytes + t.Bytes, s.Pairs + t.Pairs, s.Pieces + t.Pieces}
}

// Less is what is left when another size is taken away. What stands for a text may have more signs than it had.
func (s Size) Less(t Size) Size {
	return Size{max(0, s.Tokens-t.Tokens), s.Digits - t.Digits, s.Signs - t.Signs, s.Others - t.Others, max(0, s.Bytes-t.Bytes), s.Pairs - t.Pairs, s.Pieces - t.Pieces}
}

func (s Size) times(x float64) Size {
	return Size{x * s.Tokens, x * s.Digits, x * s.Signs, x * s.Others, x * s.Bytes, x * s.Pairs, x * s.Pieces}
}

// Weights are how many tokens a provider counts for each unit of a size. Either Bytes alone is not zero, or it is.
type Weights struct{ Tokens, Digits, Signs, Others, Bytes, Pairs, Pieces float64 }

// Count is how many tokens the provider is expected to count in a text.
func (w Weights) Count(s Size) float64 {
	n := w.Tokens*s.Tokens + w.Digits*s.Digits + w.Signs*s.Signs + w.Others*s.Others + w.Bytes*s.Bytes + w.Pairs*s.Pairs + w.Pieces*s.Pieces
	return min(max(n, minScale*s.Tokens), maxScale*s.Tokens)
}

// piece is how many tokens the provider is expected to count for a piece of a prompt, what a piece takes beside its text among them.
func (w Weights) piece(p *Piece) float64 { return w.Count(p.Size) + w.Pieces }

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

// Scale learns how many tokens a provider counts in a text of some size. It has two explanations: our estimates, corrected for
// digits, signs, what is not ASCII, what a byte pair encoding makes of it and what a piece takes beside its text, or a number of bytes a token. Each fits weights to the differences between
// successive requests, by least squares held to a first guess (ridge regression); the one is believed that has
// predicted these differences better (prequential selection). The zero value guesses that our estimates are right.
type Scale struct {
	Guess Weights // zero: our estimates are right

	// The normal equations: sums of products of what is corrected for (tokens, digits, signs, others, pairs, pieces; the upper triangle,
	// row by row), and of that with what was counted.
	Products [corrections * (corrections + 1) / 2]float64
	Counted  [corrections]float64

	// The same for bytes, and how wrong each explanation has been.
	Bytes, BytesCounted    float64
	Missed, MissedByLength float64
}

// corrections is what estimates are corrected for.
const corrections = 6

const (
	// held is how many tokens a guess is worth: that of the scale, which a whole prompt has told, of the pairs, of what a piece takes, and the others.
	heldScale, heldPairs, heldPieces, held = 300, 100, 0.03, 60
	// One estimate is not off by more than this.
	minScale, maxScale = 0.3, 3
	// A whole prompt that is off by more has parts that we do not see.
	minLikely, maxLikely = 0.6, 1.7
	// others is what a byte that is not ASCII adds to our estimates, before anything is known.
	others = 0.1
	// pairs is how much of what a byte pair encoding makes of a text beyond our estimate a provider counts, before anything is known. Most models have
	// one, each another; whose count of a whole prompt is off by no more than so much from this one's most likely has one that is like it.
	pairs, pairsAlike, alike = 0.15, 0.7, 0.12
	// perToken is about how many bytes a token has.
	perToken = 3.6
	// Length alone is believed where it is less wrong by so much, and by more than chance, and hardly wrong at all: a tokenizer
	// that goes by length is known to the token.
	convincing, chance, exact = 0.6, 4, 0.04
	// longest is how many tokens of one text count.
	longest = 4000
	// usualMiss is by which part predictions are off where texts are much alike, and doubtTimes how much more what was taken out may be, which
	// was never counted.
	usualMiss, doubtTimes, maxDoubt = 0.12, 4, 0.9
	// enough is how many tokens have to be compared for a scale to be worth knowing.
	enough = 2000
)

// first takes in the first prompt that was counted whole. By how much it is off from our estimate lies the more on digits and
// signs the more it has of them: those tokenizers differ in most.
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

// learn takes in by how much a prompt has grown, as we estimated it and as it was counted.
func (s *Scale) learn(grown Size, theirs float64) {
	if grown.Tokens <= 0 || theirs <= 0 {
		return
	}
	if x := theirs / grown.Tokens; x < minScale/2 || x > 2*maxScale {
		return // something else has happened to the prompt
	}
	s.judge(grown, theirs)
	// What is long counts for more, but not as its square, and up to a length only: one huge result is one text.
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

// judge compares what each explanation would have said with what was counted.
func (s *Scale) judge(grown Size, theirs float64) {
	if s.Products[0] == 0 {
		return // neither has learned anything
	}
	const most, long = 0.25, 1500
	wrong := func(w Weights) float64 {
		e := math.Log(theirs / max(w.Count(grown), 1))
		return min(e*e, most) * min(theirs, long)
	}
	s.Missed += wrong(s.corrected())
	s.MissedByLength += wrong(s.byLength())
}

// Suffices tells whether enough was compared for the scale to be worth knowing, and to need no other guess.
func (s Scale) Suffices() bool { return s.Products[0] > enough }

// Weights are those of the better explanation.
func (s Scale) Weights() Weights {
	if s.goesByLength() {
		return s.byLength()
	}
	return s.corrected()
}

func (s Scale) goesByLength() bool {
	if s.Guess.Tokens == 0 && s.Guess.Bytes > 0 { // others have found that it does
		return s.Missed+chance >= convincing*s.MissedByLength
	}
	return s.MissedByLength+chance < convincing*s.Missed && s.MissedByLength < exact*exact*s.Products[0]
}

// doubt is which part of an estimate may be too much. Predictions have been off by some part of what they were of; as long as that is no more
// than usual there is none.
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

// byLength explains counts by the number of bytes.
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

// corrected explains counts by our estimates. It solves the normal equations (Gaussian elimination; they are symmetric
// and positive definite, so that no pivot is zero).
func (s Scale) corrected() Weights {
	guess := s.Guess
	if guess.Tokens == 0 {
		guess = Weights{Tokens: 1, Others: others, Pairs: pairs}
		if s.Guess.Bytes > 0 {
			guess.Tokens = s.Guess.Bytes * perToken
		}
	}
	if guess.Pairs == 0 { // it is older than they are
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

// Count is how many tokens the provider is expected to count in a text.
func (s Scale) Count(size Size) float64 { return s.Weights().Count(size) }
