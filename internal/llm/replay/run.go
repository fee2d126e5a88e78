package replay

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Options say what to play.
type Options struct {
	Strategies []Strategy
	Tables     []Table
	// Lifetime of an unused prompt in seconds, if the sessions record times; 0: for ever.
	CacheTTL float64
	Ruler    Ruler    // nil: characters, divided by the sessions' characters per token
	Current  Strategy // the configured strategy; it is not advised again
	Prices   Prices   // of the sessions' own models; nil: no dollars in the report
	Silent   bool     // the provider reports no usage, so estimates are used

	// Receives the number of played requests from time to time; nil: none. Calls do not overlap.
	Progress func(done, of int)
}

// Report is the cost under all strategies.
type Report struct {
	Sessions   int              `json:"sessions"`
	Requests   int              `json:"requests"`
	Dollars    *Dollars         `json:"dollars,omitempty"`
	Strategies []StrategyReport `json:"strategies"`
}

// StrategyReport is the cost under one strategy.
type StrategyReport struct {
	Name   string        `json:"name"`
	Totals []TableReport `json:"totals"`
}

// TableReport is the cost under a strategy at one table's prices.
type TableReport struct {
	Table  string  `json:"table"`
	Format string  `json:"format"` // only sessions in this request format are counted
	Read   float64 `json:"read"`
	Write  float64 `json:"write"`
	// Sum of all bills divided by the sum of all pass-through costs.
	Ratio   float64         `json:"ratio"`
	Median  float64         `json:"median"` // of the sessions' ratios
	Worst   float64         `json:"worst"`  // highest of the sessions' ratios
	WorstID string          `json:"worst_session"`
	Dearer  int             `json:"dearer"`  // sessions that cost more than passing through
	Removed float64         `json:"removed"` // share of all input tokens that was removed
	Faults  Faults          `json:"faults"`
	Each    []SessionReport `json:"sessions"`
}

// SessionReport is the cost of one session.
type SessionReport struct {
	ID       string  `json:"id"`
	Requests int     `json:"requests"`
	Through  float64 `json:"through"` // in units of one uncached input token
	Spent    float64 `json:"spent"`
	Ratio    float64 `json:"ratio"`

	throughTokens, sentTokens float64
	faults                    Faults
}

// Run plays the sessions under every strategy and every table of their formats.
func Run(ctx context.Context, sessions []Session, o Options) (*Report, error) {
	o.Tables = slices.DeleteFunc(slices.Clone(o.Tables), func(t Table) bool {
		return !slices.ContainsFunc(sessions, func(s Session) bool { return s.format == t.Format })
	})
	rows := make([][]*SessionReport, len(sessions)) // per session, by strategy and table
	own := make([]*ownBill, len(sessions))          // per session; nil: prices unknown
	progress := newProgress(sessions, o)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range sessions {
		g.Go(func() (err error) {
			p := newPlayer(&sessions[i], o)
			p.progress = progress
			if rows[i], err = p.playAll(ctx, o); err != nil || o.Prices == nil {
				return err
			}
			own[i], err = p.playOwn(ctx, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r := &Report{Sessions: len(sessions)}
	for i := range sessions {
		r.Requests += len(sessions[i].requests)
	}
	if o.Prices != nil {
		r.Dollars = addUp(sessions, own, o)
	}
	for i, st := range o.Strategies {
		sr := StrategyReport{Name: st.Name}
		for j, t := range o.Tables {
			tr := TableReport{Table: t.Name, Format: t.Format.String(), Read: t.Rates.Read, Write: t.Rates.Write}
			for _, row := range rows {
				if s := row[i*len(o.Tables)+j]; s != nil {
					tr.Each = append(tr.Each, *s)
				}
			}
			tr.sum()
			sr.Totals = append(sr.Totals, tr)
		}
		r.Strategies = append(r.Strategies, sr)
	}
	return r, nil
}

// playAll plays the session under every strategy and every table of its format. Reports for other
// tables are nil.
func (p *player) playAll(ctx context.Context, o Options) ([]*SessionReport, error) {
	out := make([]*SessionReport, 0, len(o.Strategies)*len(o.Tables))
	for _, st := range o.Strategies {
		var last *played
		var faults Faults
		for _, t := range o.Tables {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if t.Format != p.session.format {
				out = append(out, nil)
				continue
			}
			of := offer{t.Model, t.prices(p.ttl)}
			// Otherwise the table changes neither the sent requests nor the faults.
			if last == nil || st.priced() || t.Model != "" {
				sent, err := p.play(st, of)
				if err != nil {
					return nil, err
				}
				last, faults = &sent, p.faults(sent)
			}
			p.progress.add(len(p.session.requests))
			out = append(out, p.report(t, of, last, faults))
		}
	}
	return out, nil
}

func (p *player) report(t Table, of offer, out *played, faults Faults) *SessionReport {
	r := &SessionReport{ID: p.session.ID, Requests: len(p.session.requests), Ratio: 1, faults: faults}
	through := p.passThrough(of)
	for k := range out.sent {
		r.Spent += t.Rates.Cost(out.sent[k])
		r.Through += t.Rates.Cost(through[k])
		r.sentTokens += out.sent[k].Total
		r.throughTokens += through[k].Total
	}
	if r.Through > 0 {
		r.Ratio = r.Spent / r.Through
	}
	return r
}

// dearer is the ratio from which a session counts as dearer. Below it is rounding.
const dearer = 1.001

func (t *TableReport) sum() {
	var spent, through, sentTokens, throughTokens float64
	ratios := make([]float64, 0, len(t.Each))
	for _, s := range t.Each {
		spent += s.Spent
		through += s.Through
		sentTokens += s.sentTokens
		throughTokens += s.throughTokens
		ratios = append(ratios, s.Ratio)
		if s.Ratio > t.Worst {
			t.Worst, t.WorstID = s.Ratio, s.ID
		}
		if s.Ratio > dearer {
			t.Dearer++
		}
		t.Faults.add(s.faults)
	}
	slices.Sort(ratios)
	if n := len(ratios); n > 0 {
		t.Median = (ratios[(n-1)/2] + ratios[n/2]) / 2
	}
	t.Ratio = 1
	if through > 0 {
		t.Ratio, t.Removed = spent/through, 1-sentTokens/throughTokens
	}
}
