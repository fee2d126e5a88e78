package replay

import (
	"cmp"
	"context"
	"slices"

	"secateur/internal/llm/bill"
)

// Prices tell what a model costs, and whether that is known.
type Prices func(model string) (bill.Prices, bool)

// Dollars is what the sessions cost at the prices of their own models, for input alone.
type Dollars struct {
	Sessions   int               `json:"sessions"`
	Requests   int               `json:"requests"`
	Through    float64           `json:"through"` // passing everything through
	Strategies []StrategyDollars `json:"strategies"`
	Unpriced   []string          `json:"unpriced,omitempty"` // models whose sessions are left out: nobody knows their prices
	Advice     *Advice           `json:"advice,omitempty"`   // nil where nothing saves
}

// StrategyDollars is what a strategy costs.
type StrategyDollars struct {
	Name   string  `json:"name"`
	Spent  float64 `json:"spent"`
	Dearer int     `json:"dearer"` // sessions that cost more than passing through
}

// Advice is the cheapest strategy, or one about as cheap, under which no session was dearer than passing through.
type Advice struct {
	Strategy string  `json:"strategy"`
	Spent    float64 `json:"spent"`
	Write    string  `json:"write,omitempty"` // into the configuration; "": it says so already
}

// ownBill is what a session costs, in dollars.
type ownBill struct {
	through float64
	spent   []float64 // by strategy
}

// playOwn plays the session under every strategy at the prices of its own model; nil if those are not known.
func (p *player) playOwn(ctx context.Context, o Options) (*ownBill, error) {
	prices, known := o.Prices(p.session.Model)
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

// addUp adds the bills of all sessions whose prices are known, and looks for the best.
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

// worthwhile is the share of the bill below which a strategy is not worth a change.
const worthwhile = 0.005

// advise picks the strategy to write down. One that may lose by its settings is not advised, however it fared here. Of
// those that cost the same the one that holds today is kept, else it is one that weighs prices: what comes may differ
// from what was recorded.
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

// preference orders strategies that cost the same.
func (s Strategy) preference(current Strategy) int {
	switch {
	case s.same(current):
		return 2
	case s.priced():
		return 1
	}
	return 0
}
