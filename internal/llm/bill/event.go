package bill

// Choice is what a decision to mask depends on, beside the account.
type Choice struct {
	Terms   Terms
	MaxLoss float64 // how far the bill may rise above passing through, 0.05 being five percent
	Horizon float64 // how many requests are expected to come
	Request Request // with nothing more masked; its pieces say what each would save
	Cold    Coldness
	Claims  float64 // what all branches of the conversation have claimed
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
	worthwhile = 2
	// And where so many times what it costs was missed by not having masked from the start: who waits longer
	// rewrites less often, and more at a time.
	patience = 1.4
	// What the cache loses behind a change is an estimate, too.
	caution = 1.15
)

// Purse is what may be spent on rewriting, when all branches of the conversation have claimed so much.
func (a Account) Purse(maxLoss, claims float64) float64 {
	certain := a.Saved() - a.Scale.doubt()*a.Scale.Count(a.Cut)
	return max(0, spendable*(certain-a.Owed-max(0, claims-a.Claimed))+maxLoss*a.Through())
}

// Choose decides whether to mask now.
//
// What was never sent costs nothing to change, and neither does anything once the cache is known to
// have forgotten it. For the rest the best event is taken, or none: one that is expected
// to return well more than it costs before the conversation ends, that costs well less than the
// savings missed because its results were not masked from the start (to rewrite about when
// waiting has cost as much as rewriting is never far from the best: ski rental), and that the account can
// bear even if no other request follows. Without rates only what costs nothing is masked.
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
		case c.Cold == LikelyCold: // it most likely costs nothing; it can be borne if it does
			if a.staysCached(c, from) {
				best, most = Event{From: from, Claim: max(0, cost)}, max(most, 1)
			}
		case c.Horizon*returns-rewrite > most && missed >= patience*cost && c.Horizon*returns >= worthwhile*rewrite && a.staysCached(c, from):
			best, most = Event{From: from, Claim: max(0, cost)}, c.Horizon*returns-rewrite
		}
	})
	return best
}

// eachEvent yields what masking from each piece on that was sent before would cost now, of that the
// rewriting, what each later request gets back, and what was missed by not having masked from the start.
func (a Account) eachEvent(c Choice, yield func(from int, cost, rewrite, returns, missed float64)) {
	req, t := c.Request, c.Terms
	held := req.Sent // so many pieces the cache may have
	if t.Kind == Markers {
		held = min(held, marked(req.Marks))
	}
	weights := a.Scale.Weights()
	starts := weights.Count(req.Head) + weights.Count(sizeOf(req.Pieces[:req.Sent]))
	if starts <= 0 {
		return
	}
	fit := a.position(req, req.Sent) / starts // what was counted is exact
	total, cached := a.size(req), a.position(req, held)
	write := t.Write
	if hourMarked(req.Marks) > 0 {
		write = max(write, t.Hour)
	}
	now := t.Read*cached + write*(total-cached) // what the request costs with nothing more masked
	var entries []int                           // that the cache may find, of what stands before a piece
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
		if i >= held { // it is paid in full each time
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
			lost := max(0, caution*(cached-kept)-removed) + t.block() // the block that the change falls into is lost whole
			rewrite = (write - t.Read) * lost
		}
		returns := t.Read*removed + plain
		// Both are dearer above a band; whether the prompt is just within it nobody knows.
		before, after := t.times(total*(1-edge)), t.times((total-removed-plain)*(1+edge))
		cost := after*(now+rewrite-returns) - before*now
		returns = before*t.Read*total - after*(t.Read*total-returns)
		yield(i, cost, after*rewrite, returns, before*missed)
	}
}

// edge is how far from the size where a band begins a prompt is known to be on one side of it.
const edge = 0.03

// staysCached tells whether what is left when all from a piece on is masked is long enough for the cache.
func (a Account) staysCached(c Choice, from int) bool {
	if c.Terms.Read >= c.Terms.Write { // there is none
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
