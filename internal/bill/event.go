package bill

// Piece is a stretch of a prompt, in estimated tokens.
type Piece struct {
	Tokens float64 // as it stands
	Saves  float64 // fewer if it is masked now; 0: it may not be
	Passed int     // earlier requests that it went out with
}

// Choice is what a decision to mask depends on, beside the account.
type Choice struct {
	Rates   Rates
	MaxLoss float64 // how far the bill may rise above passing through, 0.05 being five percent
	Horizon float64 // how many requests are expected to come
	Pieces  []Piece
	Sent    int     // so many pieces went out before just as they stand, and should be in the cache
	Base    Request // the request with nothing more masked
}

// Choose decides whether to mask now. It returns the piece from which on all that
// may be masked is to be masked, len(c.Pieces) for none.
//
// What was never sent, or is no longer in the cache, costs nothing to change. For
// the rest the best event is taken, or none: one that is expected to pay before the
// conversation ends, that costs no more than the savings missed because its results
// were not masked from the start (who waits that long and not longer never pays twice
// what he could have), and that the account can bear even if no other request
// follows. Without rates only what costs nothing is masked.
func (a Account) Choose(c Choice) int {
	from := len(c.Pieces)
	for i := c.Sent; i < len(c.Pieces); i++ {
		if c.Pieces[i].Saves > 0 {
			from = i
			break
		}
	}
	if !c.Rates.Known() || c.Sent == 0 {
		return from
	}
	scale := a.Scale
	if scale == 0 {
		scale = 1
	}
	read := c.Rates.Read
	after := a.Estimate(c.Rates, c.Base)
	purse := max(0, (1+c.MaxLoss)*after.Through-after.Spent) // what pays at once needs none

	var removed, missed, behind, best float64 // behind: tokens after the first change
	before := a.Hidden + scale*c.Base.Sent.Cached
	for i := c.Sent - 1; i >= 0; i-- {
		p := c.Pieces[i]
		before -= scale * p.Tokens
		behind += scale * (p.Tokens - p.Saves)
		if p.Saves == 0 {
			continue
		}
		removed += scale * p.Saves
		missed += scale * p.Saves * float64(p.Passed)
		rewritten := behind + Block // the block that the change falls into is lost whole
		if before < Minimum+Block {
			rewritten = behind + before
		}
		rewrite := (c.Rates.Write - read) * rewritten
		cost := rewrite - read*removed
		gain := c.Horizon*read*removed - rewrite
		if gain > best && read*missed >= cost && cost <= purse {
			best, from = gain, i
		}
	}
	return from
}
