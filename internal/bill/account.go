package bill

import "math"

// Account is what a conversation has cost so far, in the price of uncached input
// tokens. The zero value is a new conversation's.
type Account struct {
	Spent   float64 // what was really spent
	Through float64 // what passing everything through would have cost

	// What the provider's counts have taught; zero until then.
	Scale  float64 // its tokens for each one we estimate
	Hidden float64 // its tokens that are not in the messages

	// The first prompt it counted: ours, its.
	FirstOurs, FirstTheirs float64
}

// Request is one request's size in estimated tokens, both as it was sent and as it
// would have been sent unchanged.
type Request struct {
	Sent    Prompt
	Through Prompt
	Extra   bool // only needed because of what had been taken out; passing through would have spared it
}

// Ratio is what was spent over what passing through would have cost; 1 while
// nothing was.
func (a Account) Ratio() float64 {
	if a.Through <= 0 {
		return 1
	}
	return a.Spent / a.Through
}

// Estimate books a request of which the provider's counts are not known.
func (a Account) Estimate(r Rates, req Request) Account {
	if !r.Known() {
		return a
	}
	a.Spent += r.Cost(a.prompt(req.Sent))
	if !req.Extra {
		a.Through += r.Cost(a.prompt(req.Through))
	}
	return a
}

// Settle books a request by what the provider counted.
func (a Account) Settle(r Rates, req Request, u Usage) Account {
	a.learn(req.Sent.Total, u.Input)
	if !r.Known() {
		return a
	}
	sent, through := a.prompt(req.Sent), a.prompt(req.Through)
	sent.Total = u.Input
	if u.Told {
		// What the cache withheld from the one it would have withheld from the other.
		if sent.Cached > 0 {
			through.Cached *= min(1, u.Cached/sent.Cached)
		}
		sent.Cached = u.Cached
	}
	sent.Cached = min(sent.Cached, sent.Total)
	a.Spent += r.Cost(sent)
	if u.Wrote > 0 { // the rest costs neither more nor less than input
		a.Spent -= (r.Write - 1) * max(0, sent.Total-sent.Cached-u.Wrote)
	}
	if !req.Extra {
		a.Through += r.Cost(through)
	}
	return a
}

// learn compares a prompt as we and as the provider counted it.
func (a *Account) learn(ours, theirs float64) {
	if ours <= 0 || theirs <= 0 {
		return
	}
	const telling = 500 // estimated tokens between two prompts from which their difference tells the scale
	switch {
	case a.FirstOurs == 0:
		a.FirstOurs, a.FirstTheirs = ours, theirs
	case math.Abs(ours-a.FirstOurs) > telling:
		a.Scale = min(max((theirs-a.FirstTheirs)/(ours-a.FirstOurs), 0.25), 4)
	}
	if a.Scale == 0 {
		a.Scale = min(1, theirs/ours)
	}
	a.Hidden = max(0, theirs-a.Scale*ours)
}

// prompt gives an estimated prompt in the provider's tokens.
func (a Account) prompt(p Prompt) Prompt {
	scale := a.Scale
	if scale == 0 {
		scale = 1
	}
	q := Prompt{Total: a.Hidden + scale*p.Total}
	if p.Cached > 0 {
		q.Cached = Cacheable(a.Hidden + scale*p.Cached)
	}
	return q
}
