package bill

// Choice is what a decision to mask depends on, beside the account.
type Choice struct {
	Terms   Terms
	MaxLoss float64 // how far the bill may rise above passing through, 0.05 being five percent
	Horizon float64 // how many requests are expected to come
	Request Request // with nothing more masked; its pieces say what each would save
	Cold    Coldness
	Claims  float64 // what all branches of the conversation have claimed

	// Found is the piece up to which the cache still finds a prompt that changes at a
	// piece. nil: up to the change.
	Found func(piece int) int
}

// Event is a decision to mask: from a piece on, all that may be masked.
type Event struct {
	From  int     // the number of pieces: nothing is masked
	Claim float64 // what it may cost, to be covered by the account; 0: nothing
}

const (
	// An account is an estimate: of what it holds only this part is spent.
	spendable = 0.8
	// An event is taken where what it is expected to return is so many times what it costs. What
	// comes late in a conversation seldom does.
	worthwhile = 1.5
	// What the cache loses behind a change is an estimate, too.
	caution = 1.15
)

// Purse is what may be spent on rewriting, when all branches of the conversation have claimed so much.
func (a Account) Purse(maxLoss, claims float64) float64 {
	return max(0, spendable*(a.Saved()-a.Owed-max(0, claims-a.Claimed))+maxLoss*a.Through())
}

// Choose decides whether to mask now.
//
// What was never sent costs nothing to change, and neither does anything once the cache is known to
// have forgotten it. For the rest the best event is taken, or none: one that is expected
// to return well more than it costs before the conversation ends, that costs no more than the
// savings missed because its results were not masked from the start (who waits that long and
// not longer never pays twice what he could have: ski rental), and that the account can
// bear even if no other request follows. Without rates only what costs nothing is masked.
func (a Account) Choose(c Choice) Event {
	pieces := c.Request.Pieces
	free := Event{From: len(pieces)}
	sent := c.Request.Sent
	if c.Cold == KnownCold {
		sent = 0
	}
	for i := sent; i < len(pieces); i++ {
		if pieces[i].Saves > 0 {
			free.From = i
			break
		}
	}
	if c.Cold == KnownCold && !a.staysCached(c, free.From) {
		return Event{From: len(pieces)}
	}
	if !c.Terms.Known() || sent == 0 {
		return free
	}
	purse := a.Purse(c.MaxLoss, c.Claims)
	best, most := free, 0.0
	a.eachEvent(c, func(from int, cost, rewrite, returns, missed float64) {
		switch {
		case cost > purse && cost > 0, !a.staysCached(c, from):
		case c.Cold == LikelyCold: // it most likely costs nothing; it can be borne if it does
			best, most = Event{From: from, Claim: max(0, cost)}, max(most, 1)
		case c.Horizon*returns-rewrite > most && missed >= cost && c.Horizon*returns >= worthwhile*rewrite:
			best, most = Event{From: from, Claim: max(0, cost)}, c.Horizon*returns-rewrite
		}
	})
	return best
}

// eachEvent yields what masking from each piece on that was sent before would cost now, of that the
// rewriting, what each later request gets back, and what was missed by not having masked from the start.
func (a Account) eachEvent(c Choice, yield func(from int, cost, rewrite, returns, missed float64)) {
	req, read := c.Request, c.Terms.Read
	weights := a.Scale.Weights()
	cached, starts := a.position(req, req.Sent), weights.Count(req.Head)
	for _, p := range req.Pieces[:req.Sent] {
		starts += weights.Count(p.Size)
	}
	if starts <= 0 {
		return
	}
	fit := cached / starts // what was counted is exact
	var removed, missed float64
	for i := req.Sent - 1; i >= 0; i-- {
		p := req.Pieces[i]
		whole := weights.Count(p.Size)
		starts -= whole
		if p.Saves == 0 {
			continue
		}
		saves := fit * whole * p.Saves / p.Size.Tokens
		removed += saves
		missed += saves * float64(p.Passed)
		kept := fit * starts
		if c.Found != nil {
			kept = min(kept, a.position(req, c.Found(i)))
		}
		if kept < c.Terms.minimum()+c.Terms.block() {
			kept = 0
		}
		lost := max(0, caution*(cached-kept)-removed) + c.Terms.block() // the block that the change falls into is lost whole
		rewrite := (c.Terms.Write - read) * lost
		yield(i, rewrite-read*removed, rewrite, read*removed, read*missed)
	}
}

// staysCached tells whether what is left when all from a piece on is masked is long enough for the cache.
func (a Account) staysCached(c Choice, from int) bool {
	if c.Terms.Read >= c.Terms.Write { // there is none
		return true
	}
	left := a.size(c.Request)
	for _, p := range c.Request.Pieces[min(from, len(c.Request.Pieces)):] {
		if p.Saves > 0 {
			left -= a.Scale.Count(p.Size) * p.Saves / p.Size.Tokens
		}
	}
	return from >= len(c.Request.Pieces) || c.Terms.roomy(left)
}
