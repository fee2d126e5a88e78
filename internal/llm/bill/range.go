package bill

import "math"

// Range returns an interval that holds the true ratio with about 95 %. spent and saved are those of
// the account, or of an account that this one is a part of.
//
// Two things are uncertain. Removed text was never counted; the less was compared so far, and the
// worse the predictions were, the wider the interval. And requests without usage are estimated
// whole.
func (a Account) Range(spent, saved float64) (low, high float64) {
	ratio, through := Ratio(spent, saved), spent+saved
	if through <= 0 || saved == 0 && a.Guessed == 0 {
		return ratio, ratio
	}
	share := 0.0 // of the pass-through cost that is an estimate
	if own := a.Through(); own > 0 {
		share = math.Abs(a.Scale.Count(a.Cut)) / own
	}
	cut := a.Scale.unsure() * max(share*through, math.Abs(saved))
	guessed := 0.0 // passing through costs as much more or less, or a little more
	if a.Spent > 0 {
		guessed = min(1, a.Guessed/a.Spent) * spent
	}
	low = min(ratio, (spent-guessed)/(through-guessed+cut))
	high = max(ratio, min(1, (spent+guessed)/max(through+guessed-cut, spent)))
	return low, high
}

// guessed returns how far the estimated cost of a request may be off. A cache that is taken for cold
// may have the prompt after all.
func (a Account) guessed(t Terms, req Request, u Usage) float64 {
	if !t.Known() {
		return 0
	}
	cost := t.cost(a.sent(t, req, u))
	warm := u
	warm.Cached = max(u.Cached, min(t.Cacheable(a.upTo(t, req, a.found(t, req, req.Same))), u.Input))
	return unsureGuess*cost + max(0, cost-t.cost(a.sent(t, req, warm)))
}

const (
	// unsureGuess is how far the cost of a request without usage may be off.
	unsureGuess = 0.04
	// unsureLeast is how far an estimate of removed text may be off however much was compared, and
	// unsureFirst how much more if nothing was. It falls with the tokens compared: half of it is
	// left after unsureTokens.
	unsureLeast, unsureFirst, unsureTokens = 0.05, 0.2, 1500
	// unsureTimes scales the error of the predictions so far.
	unsureTimes = 0.5
)

// unsure returns how far an estimate of removed text may be off, as a share of it.
func (s Scale) unsure() float64 {
	compared, missed := s.Products[0], s.Missed
	if s.goesByLength() {
		missed = s.MissedByLength
	}
	off := unsureLeast + unsureFirst*unsureTokens/(unsureTokens+compared)
	if compared > 0 {
		off += unsureTimes * math.Sqrt(missed/compared)
	}
	return min(off, maxDoubt)
}
