package replay

import (
	"cmp"
	"context"
	"slices"

	"secateur/internal/llm/bill"
)

// Prices return the prices of a model on a day such as "2026-09-30", "" meaning today, and whether they are known.
type Prices func(model, day string) (bill.Prices, bool)

// Dollars is the cost of the sessions' input at the prices of their own models.
type Dollars struct {
	Sessions   int               `json:"sessions"`
	Requests   int               `json:"requests"`
	Through    float64           `json:"through"` // pass-through cost
	Strategies []StrategyDollars `json:"strategies"`
	// Models without known prices; their sessions are left out.
	Unpriced []string `json:"unpriced,omitempty"`
	Advice   *Advice  `json:"advice,omitempty"` // nil if nothing saves money
}

// StrategyDollars is the cost of one strategy.
type StrategyDollars struct {
	Name   string  `json:"name"`
	Spent  float64 `json:"spent"`
	Dearer int     `json:"dearer"` // sessions that cost more than the pass-through cost
}

// Advice is the cheapest strategy, or one about as cheap, under which no session cost more than
// passing through.
type Advice struct {
	Strategy string  `json:"strategy"`
	Spent    float64 `json:"spent"`
	Write    string  `json:"write,omitempty"` // lines for the configuration; "": already configured
}

// ownBill is the cost of a session in dollars.
type ownBill struct {
	through float64
	spent   []float64 // by strategy
}

// playOwn plays the session under every strategy at the prices of its own model. It returns nil if
// those are unknown.
func (p *player) playOwn(ctx context.Context, o Options) (*ownBill, error) {
	prices, known := o.Prices(p.session.Model, p.session.day())
	if !known {
		return nil, nil
	}
	of := offer{p.session.Model, prices}
	terms := of.terms(p.session.format)
	own := &ownBill{through: dollars(prices, terms, p.passThrough(of))}
	for _, st := range o.Strategies {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := p.play(st, of)
		if err != nil {
			return nil, err
		}
		p.progress.add(len(p.session.requests))
		own.spent = append(own.spent, dollars(prices, terms, out.sent))
	}
	return own, nil
}

func dollars(prices bill.Prices, terms bill.Terms, counts []bill.Prompt) float64 {
	sum := 0.0
	for _, c := range counts {
		sum += terms.Cost(c)
	}
	const million = 1e6
	return sum * prices.Input / million
}

// addUp sums the bills of all sessions with known prices, and picks the best strategy.
func addUp(sessions []Session, own []*ownBill, o Options) *Dollars {
	d := &Dollars{Strategies: make([]StrategyDollars, len(o.Strategies))}
	for i, st := range o.Strategies {
		d.Strategies[i].Name = st.Name
	}
	for i, b := range own {
		if b == nil {
			if !slices.Contains(d.Unpriced, sessions[i].Model) {
				d.Unpriced = append(d.Unpriced, sessions[i].Model)
			}
			continue
		}
		d.Sessions++
		d.Requests += len(sessions[i].requests)
		d.Through += b.through
		for j, spent := range b.spent {
			d.Strategies[j].Spent += spent
			if spent > b.through*dearer {
				d.Strategies[j].Dearer++
			}
		}
	}
	d.advise(o)
	return d
}

// worthwhile is the share of the bill below which a saving does not justify a change.
const worthwhile = 0.005

// advise picks the strategy to recommend. A strategy whose settings allow losses is never advised,
// however it fared here. At equal cost the current strategy wins, then one that weighs prices,
// since the future may differ from the recordings.
func (d *Dollars) advise(o Options) {
	limit := d.Through * (1 - worthwhile)
	var safe []int
	for i, s := range d.Strategies {
		if s.Dearer == 0 && o.Strategies[i].Masking.MaxLoss <= o.Current.Masking.MaxLoss && s.Spent < limit {
			safe = append(safe, i)
		}
	}
	if len(safe) == 0 {
		return
	}
	least := slices.MinFunc(safe, func(i, j int) int { return cmp.Compare(d.Strategies[i].Spent, d.Strategies[j].Spent) })
	best, rank := least, 0
	for _, i := range safe {
		if d.Strategies[i].Spent > d.Strategies[least].Spent+worthwhile*d.Through {
			continue
		}
		if r := o.Strategies[i].preference(o.Current); r > rank {
			best, rank = i, r
		}
	}
	d.Advice = &Advice{Strategy: d.Strategies[best].Name, Spent: d.Strategies[best].Spent}
	if st := o.Strategies[best]; !st.same(o.Current) {
		d.Advice.Write = st.settings()
	}
}

// preference ranks strategies of equal cost.
func (s Strategy) preference(current Strategy) int {
	switch {
	case s.same(current):
		return 2
	case s.priced():
		return 1
	}
	return 0
}
