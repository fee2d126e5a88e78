package bill

// Choice holds the inputs of a masking decision besides the account.
type Choice struct {
	Terms   Terms
	MaxLoss float64 // how far the bill may rise above the pass-through cost; 0.05: five percent
	Horizon float64 // number of further requests expected
	Request Request // with no further masking; its pieces say what each would save
	Cold    Coldness
	Claims  float64 // sum of the claims of all branches of the conversation
}

// Event is a decision to mask every maskable piece from one piece on.
type Event struct {
	From  int     // equal to the number of pieces: mask nothing
	Claim float64 // the most it may cost, to be covered by the account
}

const (
	// spendable is the share of the savings that may be spent: an account is an estimate.
	spendable = 0.8
	// worthwhile is how many times its cost an event must be expected to return. Returns expected
	// late in a conversation seldom come.
	worthwhile = 2
	// patience is how many times its cost an event must have lost because nothing was masked from
	// the start. Waiting longer means fewer and larger rewrites.
	patience = 1.4
	// caution scales the estimated loss of cached tokens behind a change.
	caution = 1.15
)

// Purse returns how much may be spent on rewriting, given the claims of all branches.
func (a Account) Purse(maxLoss, claims float64) float64 {
	certain := a.Saved() - a.Scale.doubt()*a.Scale.Count(a.Cut)
	return max(0, spendable*(certain-a.Owed-max(0, claims-a.Claimed))+maxLoss*a.Through())
}

// Choose decides whether to mask now.
//
// Masking is free for pieces that were never sent, and for all pieces once the cache is known to be
// cold. Otherwise Choose takes the best event that passes three tests, or none. The event must
// return clearly more than it costs before the conversation ends. It must cost clearly less than
// the savings missed so far: rewriting once waiting has cost as much is near the optimum (ski
// rental). The account must cover it even if no further request follows. Without rates, only free
// masking happens.
func (a Account) Choose(c Choice) Event {
	pieces := c.Request.Pieces
	c.Terms = c.Terms.With(c.Request.Marks)
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
		case cost > purse && cost > 0:
		case c.Cold == LikelyCold: // most likely free, and affordable if not
			if a.staysCached(c, from) {
				best, most = Event{From: from, Claim: max(0, cost)}, max(most, 1)
			}
		case c.Horizon*returns-rewrite > most && missed >= patience*cost && c.Horizon*returns >= worthwhile*rewrite && a.staysCached(c, from):
			best, most = Event{From: from, Claim: max(0, cost)}, c.Horizon*returns-rewrite
		}
	})
	return best
}

// eachEvent calls yield for masking from each maskable piece that was sent before. cost is the cost
// now, rewrite the part of it for rewriting, and returns the return per later request. missed is
// the savings missed by not masking from the start.
func (a Account) eachEvent(c Choice, yield func(from int, cost, rewrite, returns, missed float64)) {
	req, t := c.Request, c.Terms
	held := req.Sent // number of pieces that the cache may have
	if t.Kind == Markers {
		held = min(held, marked(req.Marks))
	}
	weights := a.Scale.Weights()
	starts := weights.Count(req.Head) + weights.Count(sizeOf(req.Pieces[:req.Sent]))
	if starts <= 0 {
		return
	}
	fit := a.position(req, req.Sent) / starts // the provider's count is exact
	total, cached := a.size(req), a.position(req, held)
	write := t.Write
	if hourMarked(req.Marks) > 0 {
		write = max(write, t.Hour)
	}
	now := t.Read*cached + write*(total-cached) // cost of the request with no further masking
	var entries []int                           // entries before the piece that the cache may find
	if t.precise() {
		entries = a.reachable(t, req)
	}
	entry, upTo := -1, 0.0
	var removed, plain, missed float64
	for i := req.Sent - 1; i >= 0; i-- {
		p := &req.Pieces[i]
		whole := weights.Count(p.Size)
		starts -= weights.piece(p)
		if p.Saves == 0 {
			continue
		}
		saves, rate := fit*whole*p.Saves/p.Size.Tokens, t.Read
		if i >= held { // uncached: paid in full each time
			plain, rate = plain+saves, 1
		} else {
			removed += saves
		}
		missed += rate * saves * float64(p.Passed)
		kept := fit * starts
		if t.precise() {
			for entries[len(entries)-1] > i {
				entries = entries[:len(entries)-1]
			}
			if e := entries[len(entries)-1]; e != entry {
				entry, upTo = e, a.upTo(t, req, e)
			}
			kept = min(kept, upTo)
		}
		if kept < t.minimum()+t.block() {
			kept = 0
		}
		rewrite := 0.0
		if i < held {
			// the block that contains the change is lost whole
			lost := max(0, caution*(cached-kept)-removed) + t.block()
			rewrite = (write - t.Read) * lost
		}
		returns := t.Read*removed + plain
		// Above a band both cost more. Near its edge we cannot tell on which side the prompt is.
		before, after := t.times(total*(1-edge)), t.times((total-removed-plain)*(1+edge))
		cost := after*(now+rewrite-returns) - before*now
		returns = before*t.Read*total - after*(t.Read*total-returns)
		yield(i, cost, after*rewrite, returns, before*missed)
	}
}

// edge is the share around a band's limit within which we do not know on which side a prompt is.
const edge = 0.03

// staysCached reports whether the prompt stays long enough for the cache after masking from a piece
// on.
func (a Account) staysCached(c Choice, from int) bool {
	if c.Terms.Read >= c.Terms.Write { // no cache
		return true
	}
	left, weights := a.size(c.Request), a.Scale.Weights()
	for i := min(from, len(c.Request.Pieces)); i < len(c.Request.Pieces); i++ {
		if p := &c.Request.Pieces[i]; p.Saves > 0 {
			left -= weights.Count(p.Size) * p.Saves / p.Size.Tokens
		}
	}
	return from >= len(c.Request.Pieces) || c.Terms.roomy(left)
}
